#!/usr/bin/env python3
"""Checks every #include under src/ against src/layers.txt, the table of layers.

A file belongs to the layer with the longest matching directory. It may include its own layer, base,
and what its line lists; what a line lists must be included. Test files (*_test.cpp, and *_testing.h and
*_testing.cpp for them alone) may include everything reachable from there; a header that they alone
include has such a name. Third-party headers belong to parts, which lines name as +PART.
docs/architecture.md repeats the table between two marks; --write brings it up to date. Prints one
line per offence and exits 1 if there is any.

usage: check_layers.py [--write] [ROOT]
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

# The headers of the parts; generated ones (*.pb.h) are told apart by their folder.
PARTS = {
    "llvm": r"(llvm|llvm-c|lld)/",
    "sqlite": r"sqlite3\.h$",
    "xgboost": r"xgboost/",
    "eigen": r"Eigen/",
    "cli11": r"CLI/",
    "crypto": r"openssl/",
    "zlib": r"zlib\.h$",
    "json": r"nlohmann/",
    "onnx_messages": r"google/protobuf/|compiler/frontend/onnx/proto/.*\.pb\.h$",
    "wire_messages": r"(google/protobuf|grpc|grpcpp)/|fleet/wire/.*\.pb\.h$",
}
FMT = re.compile(r"fmt/")
TESTING = re.compile(r"(gtest|gmock|rapidcheck)/|rapidcheck\.h$")

# The list of targets, and the layers of the parts that are made from it.
TARGET_LIST = "targets/list.inc"
LISTED = {"FACTS": "target_facts", "CODEGEN": "target_codegen", "DEVICE": "target_device",
          "TOOL_DEVICE": "target_device", "TUNING": "target_tuning"}
# The runtime is compiled together with the devices of its list (cmake/runtime.cmake), which use it.
LISTED_BELOW = ("runtime", "target_device")
DEFINES_PART = re.compile(r"^#define ATTUNE_(\w+)\(", re.M)

DOCS = "docs/architecture.md"
BEGIN, END = "<!-- layers: made by scripts/check_layers.py --write -->", "<!-- end of layers -->"


@dataclass
class Layer:
    name: str
    directory: str
    uses: list = field(default_factory=list)
    parts: list = field(default_factory=list)
    test_uses: list = field(default_factory=list)
    alone: bool = False
    open: bool = False
    all_above: bool = False


def read_table(path):
    """The layers by name, in the order of the table."""
    layers = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        layer = Layer(words[0], words[1])
        for word in words[2:]:
            if word in ("alone", "open"):
                setattr(layer, word, True)
            elif word == "*":
                layer.all_above = True
                layer.uses += [name for name in layers if name != "base"]
            elif word.startswith("+"):
                layer.parts.append(word[1:])
            elif word.startswith("test:"):
                layer.test_uses.append(word[5:])
            else:
                layer.uses.append(word)
        layers[layer.name] = layer
    return layers


def table_offences(path, layers):
    """Lines that stand twice, name what is not there, or point upward."""
    names = [line.split()[0] for line in path.read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    offences = [f"src/layers.txt: {name} stands twice" for name in sorted(set(names))
                if names.count(name) > 1]
    seen = set()
    for layer in layers.values():
        for name in layer.uses:
            if name not in seen:
                offences.append(f"src/layers.txt: {layer.name} uses {name}, which stands not above it")
        offences += [f"src/layers.txt: {layer.name} names the unknown part +{part}"
                     for part in layer.parts if part not in PARTS]
        offences += [f"src/layers.txt: the tests of {layer.name} use the unknown layer {name}"
                     for name in layer.test_uses if name not in layers]
        seen.add(layer.name)
    return offences


# Headers of C++, C and Linux: no slash and no suffix, or one of these.
SYSTEM = re.compile(
    r"^([a-z_0-9]+|(sys|linux|asm|bits|arpa|net|netinet)/.*\.h"
    r"|(assert|cpuid|cxxabi|dirent|dlfcn|elf|errno|fcntl|grp|glob|immintrin|inttypes|limits|link|malloc"
    r"|math|poll|pthread|pwd|sched|signal|spawn|stdbool|stddef|stdint|stdio|stdlib|string|termios"
    r"|time|ucontext|unistd|x86intrin)\.h)$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(layers, path):
    """The layer a path (relative to src/) belongs to, or None."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    directories = {layer.directory: layer for layer in layers.values()}
    for length in range(len(parts), 0, -1):
        names = ["/".join(parts[:length])]
        if target_of(path):
            names.append("/".join(["targets", "*", *parts[2:length]]))
        for name in names:
            if name in directories:
                return directories[name]
    return None


def target_of(path):
    """The target whose folder the path lies in, or None."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if parts[0] == "targets" and len(parts) > 3 else None


def reachable(layers, layer):
    """The names of every layer reachable downward from one, for its tests."""
    found, queue = set(), [layer.name, "base", *layer.test_uses]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(layers[name].uses)
    return found


def includes_of(file):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == "<", match[2]


def is_for_tests(path):
    return path.endswith(("_test.cpp", "_testing.h", "_testing.cpp"))


def third_party_offence(layers, layer, path, header):
    """Why the file may not include the header that is not ours, or None."""
    if SYSTEM.match(header):
        return None
    if TESTING.match(header):
        return None if is_for_tests(path) else f"only tests may include <{header}>"
    if FMT.match(header):
        return f"{layer.name} stands alone and may not include <{header}>" if layer.alone else None
    owners = [part for part, pattern in PARTS.items() if re.match(pattern, header)]
    if not owners:
        return f"<{header}> is no known header; name its part in scripts/check_layers.py"
    names = reachable(layers, layer) if is_for_tests(path) else [layer.name]
    if any(part in layers[name].parts for name in names for part in owners):
        return None
    users = [each.name for each in layers.values() if set(owners) & set(each.parts)]
    return f"only {' and '.join(users)} may include <{header}>"


def listed_layers(file):
    """The layers of the parts that a file makes of the list of targets."""
    parts = DEFINES_PART.findall(file.read_text())
    return {LISTED[part] for part in parts if part in LISTED}


def target_list_offence(layer, names, file):
    """Why the file may not include the list of targets, or None: it reaches the parts that it lists."""
    listed = listed_layers(file)
    if not listed:
        return f"{TARGET_LIST} is for those who list a part of the targets"
    above = sorted(listed - set(names) - ({LISTED_BELOW[1]} if layer.name == LISTED_BELOW[0] else set()))
    return f"{layer.name} may not list what {above[0]} has" if above else None


def check_file(layers, source, file):
    path = file.relative_to(source).as_posix()
    layer = layer_of(layers, path)
    if layer is None:
        return [f"{path}: this directory is no layer; name it in src/layers.txt"]
    names = reachable(layers, layer) if is_for_tests(path) else {"base", layer.name, *layer.uses}
    offences = []
    for number, angled, header in includes_of(file):
        reason = None
        if header == TARGET_LIST:
            reason = target_list_offence(layer, names, file)
        elif header.endswith(".pb.h"):
            reason = third_party_offence(layers, layer, path, header)
        elif not (source / header).exists():
            if angled:
                reason = third_party_offence(layers, layer, path, header)
            else:
                reason = f'"{header}" is not under src/; includes are written from there'
        elif header.endswith("_testing.h") and not is_for_tests(path):
            reason = f"only tests may include {header}"
        elif (owner := layer_of(layers, header)) is None or owner.name not in names:
            reason = f"{layer.name} may not include {header}"
        elif (target_of(header) not in (None, target_of(path)) and not is_for_tests(path)
              and not owner.open):
            reason = f"only the folder of target {target_of(header)} may include {header}"
        if reason:
            offences.append(f"{path}:{number}: {reason}")
    return offences


def included_layers(layers, source, files):
    """For each layer what its files include, and what its tests do: names of layers, and +PART."""
    used, in_tests = ({name: set() for name in layers} for _ in range(2))
    for file in files:
        path = file.relative_to(source).as_posix()
        layer = layer_of(layers, path)
        if layer is None:
            continue
        found = (in_tests if is_for_tests(path) else used)[layer.name]
        for _, _, header in includes_of(file):
            owner = layer_of(layers, header) if (source / header).exists() else None
            found |= {f"+{part}" for part, pattern in PARTS.items() if re.match(pattern, header)}
            found |= listed_layers(file) if header == TARGET_LIST else {owner.name} if owner else set()
    return used, in_tests


def unused_offences(layers, source, files):
    """What a line lists although nobody includes it."""
    used, in_tests = included_layers(layers, source, files)
    for layer in layers.values():
        uses = [] if layer.all_above else layer.uses
        for name in [*uses, *(f"+{part}" for part in layer.parts)]:
            if name not in used[layer.name]:
                yield f"src/layers.txt: {layer.name} uses {name}, of which it includes nothing"
        for name in layer.test_uses:
            if name not in in_tests[layer.name]:
                yield f"src/layers.txt: the tests of {layer.name} use {name}, of which they include nothing"


def for_tests_alone(root, source, files):
    """Headers that tests alone include, by names that do not say so."""
    others = [f for folder in ("tests", "bench") for f in (root / folder).rglob("*")
              if f.suffix in (".h", ".cpp")]
    by_tests, by_others = set(), set()
    for file in [*files, *others]:
        tests = is_for_tests(file.name) or file.relative_to(root).parts[0] == "tests"
        (by_tests if tests else by_others).update(header for _, _, header in includes_of(file))
    for header in sorted(by_tests - by_others):
        if (source / header).exists() and not header.endswith(("_testing.h", ".inc")):
            yield f"{header}: only tests include it; call it {header.removesuffix('.h')}_testing.h"


def alone_offences(layers, source):
    """A layer that stands alone links nothing foreign, so neither may any header it reaches."""
    queue = [f for layer in layers.values() if layer.alone
             for f in sorted((source / layer.directory).rglob("*"))
             if f.suffix in (".h", ".cpp") and not is_for_tests(f.name)]
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


def docs_table(layers):
    rows = ["| layer | directory | uses, besides base |", "|---|---|---|"]
    for layer in layers.values():
        uses = [*layer.uses, *(f"+{part}" for part in layer.parts)]
        if len(layer.uses) == list(layers).index(layer.name) - 1 and len(layer.uses) > 5:
            uses = ["all above", *(f"+{part}" for part in layer.parts)]
        rows.append(f"| {layer.name} | `src/{layer.directory}` | {', '.join(uses) or '–'} |")
    return "\n".join([BEGIN, *rows, END])


def docs_offences(layers, file, write):
    """The table in the document, compared with the one in the sources, or written."""
    text = file.read_text()
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        return [f"{DOCS}: the marks of the layers' table are missing"]
    fresh = text[:begin] + docs_table(layers) + text[end + len(END):]
    if fresh == text:
        return []
    if write:
        file.write_text(fresh)
        return []
    return [f"{DOCS}: the layers' table is stale; run scripts/check_layers.py --write"]


def main(arguments):
    write = "--write" in arguments
    rest = [word for word in arguments if word != "--write"]
    root = pathlib.Path(rest[0]) if rest else pathlib.Path(__file__).resolve().parent.parent
    source = root / "src"
    layers = read_table(source / "layers.txt")
    offences = table_offences(source / "layers.txt", layers)
    files = [f for f in sorted(source.rglob("*")) if f.suffix in (".h", ".cpp", ".inc")]
    if not offences:
        offences = [line for f in files for line in check_file(layers, source, f)]
        offences += alone_offences(layers, source)
        offences += unused_offences(layers, source, files)
        offences += for_tests_alone(root, source, files)
        offences += docs_offences(layers, root / DOCS, write)
    print("\n".join(offences + [f"layers: {len(files)} files, {len(offences)} offences"]))
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
