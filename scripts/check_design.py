#!/usr/bin/env python3
"""Checks rules of the design that no compiler knows.

- Which kind a target is stays in src/targets: nobody else compares kinds of targets.
- What a model's text names (an operator, a file, a name of the zoo) is asked in the loader alone;
  all others go by the facts that it sets (compiler/model/load/model_facts.h).
- One place lowers programs and generates code: the kernel builder. Besides, what a kernel needs run once,
  ahead of time, is compiled there by those who run it, or hand it on.
- A candidate has few shapes: what it is, what was built of it, what the measuring process gets, its
  row in a session, its record.
- A directory, also of tests, holds at most 60 sources, so that a stranger finds a file by looking; lists of siblings,
  where each file is one entry, aside.

In all else tests may do as they like. Prints one line per offence and exits 1 if there is any.

usage: check_design.py [ROOT]
"""

import collections
import pathlib
import re
import sys

from check_sizes import sources

LOADER = "src/compiler/model/load/model.cpp"
# Whatever it is called: a name that asks whether a model is of one kind, or which kind it is.
ASKS_FOR_KIND = re.compile(
    r"\b\w*kind_of_model\w*\b|\bmodel_kind\w*\b|\bModelKind\b"
    r"|\b(?:is|was)_(?:an?_|one_|single_|the_)?(?:operator|op|spec|op_spec|operator_spec|model"
    r"|whole_model|onnx|onnx_model|zoo|zoo_model)_?\b"
    r"|\bis(?:Operator|Spec|Model)\b|\boperator_facts\b")
BUILDER = "src/compiler/kernel/kernel.cpp"
GENERATES = re.compile(r"\bcode_generator_of\([^()]*\)\.(compile|link)\(|\bcodegen::compile_module\(")
COMPILES_LOOPS = re.compile(r"\bkernel::compile\(")
# Those that run, ahead of time, the loops that prepare constants; and who writes them beside a kernel.
PREPARERS = ["src/compiler/model/kernel_store.cpp", "src/compiler/model/compile.cpp",
             "src/tuner/measure/builder/build_candidate.cpp"]
# The words of AutoTVM's logs, of which some are ours too.
FOREIGN_KINDS = "src/tuner/logs/workload.cpp"

MOST_CANDIDATES = 5
CANDIDATE_ROOMS = tuple(f"src/tuner/{room}/" for room in ["space", "explore", "session", "measure"])
RECORD = ("src/tuner/records/record.h", "Record")

MOST_SOURCES = 60
# Directories of siblings, one entry a file.
SIBLINGS = ["src/compiler/frontend/onnx", "src/compiler/graph/passes", "src/compiler/ops/definitions"]


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h", "_testing.cpp"))


def without_comment(line):
    return line.split("//", 1)[0]


def target_kinds(root):
    folder = root / "src/targets"
    return sorted(f.name for f in folder.iterdir() if f.is_dir()) if folder.is_dir() else []


def line_offences(path, number, line, kinds):
    words = "|".join(map(re.escape, kinds)) or "(?!)"
    compared = re.search(rf'\bkind\b\s*[=!]=\s*"({words})"|"({words})"\s*[=!]=\s*\S*\bkind\b', line)
    if compared and not path.startswith("src/targets/") and path != FOREIGN_KINDS:
        yield f"{path}:{number}: asks which kind a target is; that is for src/targets to know"
    if path != LOADER and ASKS_FOR_KIND.search(without_comment(line)):
        yield f"{path}:{number}: asks what a model's text names; that is for {LOADER}"
    if "lower::lower(" in line and path != BUILDER:
        yield f"{path}:{number}: lowers a program; that is for {BUILDER}"


def builder_offences(path, text):
    """From program, trace and target to a kernel there is one way."""
    for number, line in enumerate(text.splitlines(), 1):
        if path != BUILDER and GENERATES.search(line):
            yield f"{path}:{number}: generates code; that is for {BUILDER}"
        if path not in PREPARERS and COMPILES_LOOPS.search(line):
            yield f"{path}:{number}: compiles loops without kernel::build, which lowers them"


def directory_offences(root):
    counts = collections.Counter(file.parent.relative_to(root).as_posix() for file in sources(root))
    for path, count in sorted(counts.items()):
        if count > MOST_SOURCES and path not in SIBLINGS:
            yield f"{path}: {count} sources, at most {MOST_SOURCES}; divide it where a stranger would"


def structs(text):
    """Names of the structs that are defined there, each with its body."""
    for found in re.finditer(r"\bstruct (\w+)(?: final)?(?: : [^{;]*)? \{", text):
        depth, end = 1, found.end()
        while depth > 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield found[1], text[found.end():end]


def candidate_offences(texts):
    """A struct stands for a candidate when it is called one, or holds a trace on its way through tuning."""
    found = []
    for path, text in texts:
        for name, body in structs(text):
            holds = path.startswith(CANDIDATE_ROOMS) and re.search(r"\bschedule::Trace \w+( = [^;]*)?;", body)
            if name.endswith(("Candidate", "Proposal")) or holds or (path, name) == RECORD:
                found.append(f"{path}: {name}")
    if len(found) > MOST_CANDIDATES:
        yield f"{len(found)} structs stand for a candidate, at most {MOST_CANDIDATES}: " + ", ".join(found)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    kinds = target_kinds(root)
    files = [f for f in sorted((root / "src").rglob("*")) if f.suffix in (".h", ".cpp")]
    texts = [(path, file.read_text()) for file in files
             if not is_for_tests(path := file.relative_to(root).as_posix())]
    offences = list(directory_offences(root)) + list(candidate_offences(texts))
    for path, text in texts:
        offences += builder_offences(path, text)
        for number, line in enumerate(text.splitlines(), 1):
            offences += line_offences(path, number, line, kinds)
    print("\n".join(offences + [f"design: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
