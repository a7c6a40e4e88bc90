#!/usr/bin/env python3
"""Keeps a machine busy while tests run: two loops of dd that wait for the disk, and two that compute.

usage: load.py PARENT FOLDER

Files are written in FOLDER. All of it ends with the process PARENT, however that ends: the kernel
kills each process here when the one that started it is gone.
"""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

WRITERS, SPINNERS = 2, 2
MEGABYTES = 64  # of each file
PR_SET_PDEATHSIG = 1


def end_with(parent):
    """The one that started this one; it may be gone already."""
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0 or os.getppid() != parent:
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
    if os.fork() == 0:
        end_with(own)
        work()


def main(parent, folder):
    end_with(int(parent))
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for number in range(WRITERS):
        started(lambda number=number: write(os.path.join(folder, str(number))))
    for _ in range(SPINNERS):
        started(spin)
    os.wait()  # none ends by itself


if __name__ == "__main__":
    main(*sys.argv[1:])
