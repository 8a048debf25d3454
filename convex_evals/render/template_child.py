"""Started by templates.py, in a process of its own: a job on stdin, texts or a fault on stdout, both JSON."""

from __future__ import annotations

import importlib
import json
import resource
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from convex_evals.render.templates import Job, TemplateFault, render_here

    job = Job(**json.load(sys.stdin.buffer))
    processor_seconds, memory = map(int, sys.argv[1:])
    # What has to be loaded is loaded before the limits.
    importlib.import_module("jinja2.sandbox")
    if job.vocabulary:
        importlib.import_module(job.vocabulary.partition(":")[0])
    for limit, value in (
        (resource.RLIMIT_CPU, processor_seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(limit, (value, value))
    try:
        answer = json.dumps({"texts": render_here(job)})
    except TemplateFault as fault:
        answer = json.dumps({"fault": fault.message, "line": fault.line, "name": fault.name})
    except RecursionError:
        answer = json.dumps({"fault": "is nested too deeply", "line": None, "name": job.name})
    sys.stdout.write(answer)
