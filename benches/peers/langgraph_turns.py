#!/usr/bin/env python3
"""Durable turns of LangGraph's SqliteSaver, to be held against `cargo bench --bench history turns_of_a_kibibyte`.

Needs PyPI `langgraph` and `langgraph-checkpoint-sqlite`. One turn is a reply with a call and a result of 1 KiB; the
database is in WAL mode with `synchronous=FULL`, as ours. Prints turns a second and bytes of the database a turn.
"""

import operator
import pathlib
import sqlite3
import sys
import tempfile
import time
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, StateGraph

TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
RESULT_BYTES = 1024


class State(TypedDict):
    messages: Annotated[list, operator.add]
    turn: int


def model(state: State) -> dict:
    number = state["turn"] + 1
    return {"messages": [{"role": "assistant", "call": number}], "turn": number}


def tool(state: State) -> dict:
    line = f"the answer to {state['turn']} "
    return {"messages": [{"role": "tool", "content": (line * RESULT_BYTES)[:RESULT_BYTES]}]}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkpoints.db"
        connection = sqlite3.connect(path, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute("PRAGMA synchronous=FULL")
        graph = StateGraph(State)
        graph.add_node("model", model)
        graph.add_node("tool", tool)
        graph.set_entry_point("model")
        graph.add_edge("model", "tool")
        graph.add_conditional_edges("tool", lambda state: END if state["turn"] >= TURNS else "model")
        compiled = graph.compile(checkpointer=saver)
        began = time.perf_counter()
        config = {"configurable": {"thread_id": "one"}, "recursion_limit": 3 * TURNS}
        # `sync`: each step is kept before the next begins, as ours is.
        compiled.invoke({"messages": [], "turn": 0}, config, durability="sync")
        took = time.perf_counter() - began
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        weight = path.stat().st_size
        print(f"langgraph: {TURNS} turns, {TURNS / took:.0f} turns a second, {weight / TURNS:.0f} bytes a turn")


if __name__ == "__main__":
    main()
