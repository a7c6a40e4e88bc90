"""One runtime with one model in a process of its own; told what to do by lines of JSON.

usage: worker.py ENGINE MODEL INPUTS.npz THREADS CORES

Reads commands from stdin and answers each with one line on stdout:
  {"do": "burst", "runs": N, "seconds": S}  at least N runs and S seconds -> {"us": [...]}
  {"do": "results", "file": F}              outputs into F (.npz)         -> {}
"""
import ctypes
import json
import os
import signal
import sys
import time


def die_with_parent():
    """A worker is frozen when it is not in turn; nobody would wake it when its parent is gone."""
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def burst(engine, runs, seconds):
    times = []
    end = time.perf_counter() + seconds
    while len(times) < runs or time.perf_counter() < end:
        begin = time.perf_counter_ns()
        engine.run()
        times.append((time.perf_counter_ns() - begin) / 1e3)
    return times


def main():
    name, model, inputs, threads, cores = sys.argv[1:6]
    die_with_parent()
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    # Only answers go to the real stdout; what libraries print goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import numpy

    from engines import ENGINES

    engine = ENGINES[name]()
    arrays = dict(numpy.load(inputs))
    order = json.loads(str(arrays.pop("__names__")))
    begin = time.perf_counter()
    engine.load(model, {given: arrays[f"a{i}"] for i, given in enumerate(order)}, int(threads))
    print(json.dumps({"load_seconds": time.perf_counter() - begin}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = {}
        if command["do"] == "burst":
            answer["us"] = burst(engine, command["runs"], command["seconds"])
        elif command["do"] == "results":
            results = engine.results()
            listed = {f"a{i}": array for i, array in enumerate(results.values())}
            numpy.savez(command["file"], __names__=json.dumps(list(results)), **listed)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
