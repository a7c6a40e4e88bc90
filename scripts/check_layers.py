#!/usr/bin/env python3
"""Checks every #include under src/ against the layer table below.

A layer is a directory; a file belongs to the layer with the longest matching path. It may include
its own layer, base, and what its line lists: other layers, or single headers. Test files
(*_test.cpp, and *_testing.h for them alone) may include everything at or below their layer.
Third-party headers have a table of their own. Prints one line per offence and exits 1 if there is any.

usage: check_layers.py [SOURCE DIRECTORY]
"""

import pathlib
import re
import sys

TUNER_BASICS = "compiler/ir compiler/schedule compiler/lower compiler/ops compiler/graph tuner/records"

# One line per layer, lowest first: directory, and what it may include besides base and itself.
LAYERS = {
    "base": "",
    "runtime": "",
    "compiler/ir": "",
    "compiler/schedule": "compiler/ir",
    "compiler/lower": "compiler/ir compiler/schedule",
    "compiler/ops": "compiler/ir",
    "compiler/graph": "compiler/ir compiler/ops",
    "compiler/frontend": "compiler/graph compiler/ops",
    "compiler/frontend/op_spec": "compiler/ir compiler/ops",
    "compiler/frontend/onnx/proto": "",
    "compiler/frontend/onnx": "compiler/ir compiler/ops compiler/graph compiler/frontend/onnx/proto",
    "compiler/frontend/zoo": "compiler/frontend/onnx/proto",
    "compiler/codegen": "compiler/ir compiler/lower runtime",
    "tuner/records": "compiler/schedule runtime",
    "tuner/measure/probe": "runtime",
    "tuner/measure": "tuner/records tuner/measure/probe compiler/schedule runtime",
    "tuner/measure/builder": "tuner/records tuner/measure/runner.h compiler/ir"
    " compiler/schedule compiler/lower compiler/codegen runtime",
    "tuner/space": TUNER_BASICS,
    "tuner/templates": TUNER_BASICS + " tuner/space",
    "tuner/logs": TUNER_BASICS + " compiler/frontend/op_spec tuner/space tuner/templates runtime",
    "tuner/features": TUNER_BASICS + " tuner/space",
    "tuner/model": TUNER_BASICS + " tuner/space tuner/features",
    "tuner/explore": TUNER_BASICS + " tuner/space tuner/features tuner/model",
    "tuner/session": TUNER_BASICS + " tuner/space tuner/templates tuner/features tuner/model"
    " tuner/explore tuner/measure/runner.h",
    "fleet/wire": "runtime tuner/measure/probe",
    "fleet/tracker": "fleet/wire runtime tuner/measure/probe",
    "fleet/agent": "fleet/wire runtime tuner/measure/probe",
    "fleet/remote_runner": "fleet/wire tuner/measure/runner.h",
    "fleet/jobs": "tuner/records fleet/wire",
    "fleet/server": "fleet/jobs fleet/wire tuner/records",
    "fleet/worker": "fleet/wire",
    "app/deploy": "compiler runtime tuner",
    "app/api": "app/deploy compiler runtime tuner fleet",
    "app/cli": "app/api",
    "app/service": "app/api",
    "app/python": "app/api",
}

# Who sees protobuf: its own headers, and those it generates (*.pb.h, in the build directory).
PROTOBUF_USERS = ["compiler/frontend/onnx", "compiler/frontend/zoo", "fleet"]

# Third-party headers, and the directories that may include them.
THIRD_PARTY = {
    r"(llvm|llvm-c|lld)/": ["compiler/codegen/llvm"],
    r"sqlite3\.h$": ["tuner/records"],
    r"xgboost/": ["tuner/model"],
    r"Eigen/": ["tuner/model"],
    r"CLI/": ["app/cli"],
    r"zlib\.h$": ["app/api", "tuner/records"],
    r"google/protobuf/": PROTOBUF_USERS,
    r"(grpc|grpcpp)/": ["fleet"],
    r"(fmt|spdlog|nlohmann)/": ["base", "compiler", "tuner", "fleet", "app"],
    r"(gtest|gmock|rapidcheck)/|rapidcheck\.h$": [],  # in tests only
}

# Headers of C++, C and Linux: no slash and no suffix, or one of these.
SYSTEM = re.compile(
    r"^([a-z_0-9]+|(sys|linux|asm|bits|arpa|net|netinet)/.*\.h"
    r"|(assert|cpuid|cxxabi|dirent|dlfcn|elf|errno|fcntl|glob|immintrin|inttypes|limits|link|malloc"
    r"|math|poll|pthread|pwd|sched|signal|spawn|stdbool|stddef|stdint|stdio|stdlib|string|termios"
    r"|time|ucontext|unistd|x86intrin)\.h)$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    """The layer a path (relative to src/) belongs to, or None."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in LAYERS:
            return name
    return None


def covers(entry, path):
    """Whether a table entry (a layer, a group of layers, or one header) stands for the path."""
    if path == entry or layer_of(path) == entry:
        return True
    return entry not in LAYERS and path.startswith(entry + "/")


def allowed(layer):
    return ["base", layer] + LAYERS[layer].split()


def layers_in(entry):
    """The layers a table entry stands for: itself, those of its group, or that of its header."""
    if entry in LAYERS:
        return [entry]
    if entry.endswith(".h"):
        return [layer_of(entry)]
    return [name for name in LAYERS if name.startswith(entry + "/")]


def at_or_below(layer):
    """Every layer reachable downward from one, for its tests."""
    found, queue = set(), [layer]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(n for entry in allowed(name) for n in layers_in(entry))
    return sorted(found)


def includes_of(file):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == "<", match[2]


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h"))


def third_party_offence(path, header):
    """Why the file may not include the header that is not ours, or None."""
    if SYSTEM.match(header):
        return None
    for pattern, directories in THIRD_PARTY.items():
        if not re.match(pattern, header):
            continue
        if not directories and is_for_tests(path):
            return None
        if any(path.startswith(d + "/") for d in directories):
            return None
        return f"only {' and '.join(directories) or 'tests'} may include <{header}>"
    return f"<{header}> is no known header; name it in scripts/check_layers.py"


def check_file(source, file):
    path = file.relative_to(source).as_posix()
    layer = layer_of(path)
    if layer is None:
        return [f"{path}: this directory is no layer; name it in scripts/check_layers.py"]
    entries = at_or_below(layer) if is_for_tests(path) else allowed(layer)
    offences = []
    for number, angled, header in includes_of(file):
        reason = None
        if header.endswith(".pb.h"):
            if not any(path.startswith(d + "/") for d in PROTOBUF_USERS):
                reason = f"only {' and '.join(PROTOBUF_USERS)} may include {header}"
        elif not (source / header).exists():
            if angled:
                reason = third_party_offence(path, header)
            else:
                reason = f'"{header}" is not under src/; includes are written from there'
        elif header.endswith("_testing.h") and not is_for_tests(path):
            reason = f"only tests may include {header}"
        elif not any(covers(entry, header) for entry in entries):
            reason = f"{layer} may not include {header}"
        if reason:
            offences.append(f"{path}:{number}: {reason}")
    return offences


def runtime_closure_offences(source):
    """The runtime links nothing foreign, so neither may any header it reaches."""
    queue = [f for f in sorted((source / "runtime").rglob("*")) if f.suffix in (".h", ".cpp")]
    queue = [f for f in queue if not is_for_tests(f.name)]
    seen, offences = set(queue), []
    while queue:
        file = queue.pop()
        for number, angled, header in includes_of(file):
            if (source / header).exists():
                if source / header not in seen:
                    seen.add(source / header)
                    queue.append(source / header)
            elif angled and not SYSTEM.match(header):
                path = file.relative_to(source).as_posix()
                offences.append(f"{path}:{number}: runtime reaches the third-party header <{header}>")
    return offences


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    source = pathlib.Path(arguments[0]) if arguments else root / "src"
    files = [f for f in sorted(source.rglob("*")) if f.suffix in (".h", ".cpp", ".inc")]
    offences = [line for f in files for line in check_file(source, f)]
    offences += runtime_closure_offences(source)
    print("\n".join(offences + [f"layers: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
