#!/usr/bin/env python3
"""Models of the zoo as C sources against their artifacts: the same random inputs, outputs within
1e-5 of the largest absolute value.

Every model is compiled to an artifact and to C by the same program, the C by each compiler that is
here (gcc, clang, a cross compiler for aarch64 with qemu), without a warning; optionally also with
address and undefined-behaviour sanitizers. What is not here is named in the end; without any of them
the test fails.

usage: models.py [--program ATTUNE] [--models a,b] [--compilers gcc,clang,...] [--sanitize]
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

MODELS = ["mlp", "dqn", "squeezenet1_1", "mobilenet_v2", "lstm_lm", "bert_tiny"]
# Weights of more than 33.6 MB do not become arrays.
IN_FILES = {"lstm_lm", "bert_tiny"}
STRICT = "-std=c11 -Wall -Wextra -Wconversion -pedantic -Werror".split()
FAST = "-ffp-contract=fast -fno-math-errno".split()
NATIVE = ["-O3", "-march=native"]
SANITIZE = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all".split()
# Largest input value of integer tensors, which are indices of the smallest vocabulary here.
MOST_INDEX = 9999
TOLERANCE = 1e-5

# Name, compiler and its flags, and what runs the program.
CROSS = "aarch64-linux-gnu-gcc"
QEMU = "qemu-aarch64-static"
COMPILERS = {
    "gcc": (["gcc", *NATIVE], []),
    "gcc-portable": (["gcc", "-O3", "-march=native", "-DATTUNE_PORTABLE"], []),
    "gcc-plain": (["gcc", "-O2"], []),
    "clang": (["clang", *NATIVE], []),
    "clang-19": (["clang-19", *NATIVE], []),
    "aarch64": ([CROSS, "-O2", "-static"], [QEMU]),
    "sanitized": (["gcc", *SANITIZE], []),
}
TYPES = {"f32": "f", "i64": "q", "i32": "i", "bool": "B", "u8": "B"}
NPY = {"f32": "<f4", "i64": "<i8", "i32": "<i4", "bool": "|b1", "u8": "|u1"}


def write_npy(path, dtype, shape, values):
    extents = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, 'shape': ({extents}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path.write_bytes(head + values.tobytes())


def read_npy(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    return data[10 + length :]


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0 or "warning:" in done.stderr:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def random_values(dtype, shape):
    count = math.prod(shape)
    if TYPES[dtype] == "f":
        return array.array("f", (random.uniform(-1, 1) for _ in range(count)))
    return array.array(TYPES[dtype], (random.randint(0, MOST_INDEX) for _ in range(count)))


class Model:
    """The artifact, the sources, inputs and the outputs of the artifact, in a folder of its own."""

    def __init__(self, program, name, folder):
        self.name, self.folder = name, folder
        environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data")}
        artifact = folder / f"{name}.attune"
        run([program, "compile", name, "-o", artifact], env=environment)
        form = "file" if name in IN_FILES else "array"
        sources = [program, "compile", name, "--format", "c", "--weights", form, "-o", folder / "c"]
        run(sources, env=environment)
        seen = json.loads(run([program, "run", artifact, "--json"], env=environment))
        self.inputs, words = [], []
        for number, tensor in enumerate(seen["inputs"]):
            values = random_values(tensor["type"], tensor["shape"])
            write_npy(folder / f"{number}.npy", tensor["type"], tensor["shape"], values)
            (folder / f"in{number}").write_bytes(values.tobytes())
            words += ["--input", f"{tensor['name']}={folder}/{number}.npy"]
            self.inputs.append(folder / f"in{number}")
        run([program, "run", artifact, "--output", folder / "out", *words], env=environment)
        self.types = [tensor["type"] for tensor in seen["outputs"]]
        self.expected = [read_npy(folder / "out" / f"{t['name']}.npy") for t in seen["outputs"]]

    def largest_error(self, command, runner, label):
        """Builds and runs the C; the largest difference, as a share of the largest output."""
        binary = self.folder / label
        files = sorted((self.folder / "c").glob("*.c"))
        run([*command, *STRICT, *FAST, *files, "-lm", "-o", binary])
        outputs = [self.folder / f"{label}.out{i}" for i in range(len(self.expected))]
        run([*runner, binary, *self.inputs, *outputs], cwd=self.folder / "c")
        worst = 0.0
        for kind, expected, path in zip(self.types, self.expected, outputs):
            want, have = array.array(TYPES[kind]), array.array(TYPES[kind])
            want.frombytes(expected)
            have.frombytes(path.read_bytes())
            if len(want) != len(have):
                raise RuntimeError(f"{path.name}: {len(have)} elements, not {len(want)}")
            largest = max(abs(v) for v in want) or 1.0
            difference = max(abs(a - b) for a, b in zip(want, have))
            worst = max(worst, difference / largest if difference == difference else math.inf)
        return worst


def why_left_out(name):
    """What of a compiler is not here; empty: all of it is."""
    command, runner = COMPILERS[name]
    missing = [tool for tool in (command[0], *runner) if shutil.which(tool) is None]
    return f"{name} (no {' and no '.join(missing)})" if missing else ""


def main():
    root = pathlib.Path(__file__).resolve().parents[3]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=root / "build/release/bin/attune")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--compilers", default="gcc,clang-19,aarch64")
    parser.add_argument("--sanitize", action="store_true")
    options = parser.parse_args()
    random.seed(1)
    asked = options.compilers.split(",") + (["sanitized"] if options.sanitize else [])
    for name in asked:
        if name not in COMPILERS:
            parser.error(f"there is no compiler '{name}', but {', '.join(COMPILERS)}")
    compilers = [name for name in asked if not why_left_out(name)]
    left_out = [why for name in asked if (why := why_left_out(name))]
    if not compilers:
        print(f"c: FAILED: no compiler is left; left out: {', '.join(left_out)}")
        return 1
    failures = 0
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            model = Model(options.program, name, pathlib.Path(folder))
            for label in compilers:
                try:
                    error = model.largest_error(*COMPILERS[label], label)
                    verdict = "ok" if error <= TOLERANCE else "WRONG"
                    print(f"c: {name:<14} {label:<12} {error:.2e} of the largest output  {verdict}", flush=True)
                except RuntimeError as failure:
                    verdict = "FAILED"
                    print(f"c: {name:<14} {label:<12} {failure}", flush=True)
                failures += verdict != "ok"
    closing = "passed" if failures == 0 else f"{failures} FAILED"
    print(f"c: {closing}" + (f"; left out: {', '.join(left_out)}" if left_out else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
