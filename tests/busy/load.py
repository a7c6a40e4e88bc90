#!/usr/bin/env python3
"""Keeps a machine busy while tests run: two loops of dd that wait for the disk, and two that compute.

usage: load.py PARENT FOLDER

Files are written in FOLDER. All of it ends with the process PARENT, however that ends: the kernel
kills each process here when the one that started it is gone. Told to end by SIGTERM, it is the last
of them to go.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

WRITERS, SPINNERS = 2, 2
MEGABYTES = 64  # of each file
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    if ctypes.CDLL(None).prctl(option, value) != 0:
        os._exit(1)


def end_with(parent):
    """The one that started this one; it may be gone already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def write(file):
    own = os.getpid()
    while True:
        subprocess.run(["dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={MEGABYTES}", "conv=fsync"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: end_with(own), check=False)


def spin():
    while True:
        pass


def started(work):
    """A process that does the work until this one ends."""
    own = os.getpid()
    process = os.fork()
    if process == 0:
        end_with(own)
        work()
    return process


def end(processes):
    """What they started comes to this process, and is waited for too: the disk may hold it for long."""
    for process in processes:
        os.kill(process, signal.SIGKILL)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def main(parent, folder):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until all of them are known
    end_with(int(parent))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    processes = [started(lambda number=number: write(os.path.join(folder, str(number))))
                 for number in range(WRITERS)]
    processes += [started(spin) for _ in range(SPINNERS)]
    signal.sigwait({signal.SIGTERM})
    end(processes)


if __name__ == "__main__":
    main(*sys.argv[1:])
