#!/usr/bin/env python3
"""Writes the package of a built checkout; scripts/package builds first and then calls it.

usage: write_package.py --build DIR --output FILE [--with-tests] [--with-bench]

The folder in the package looks like a checkout whose build folder is the checkout itself: bin/ and
lib/ hold what was built, tests/ and bench/ what travels of the sources.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from archive import write_archive  # noqa: E402
import elf  # noqa: E402
from elf import PackageError, output_of  # noqa: E402
from licences import copy_licences  # noqa: E402
import llvm  # noqa: E402
from suites import test_suites  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEWEST_GLIBC = (2, 36)
# Scripts that those of bench/ use.
BENCH_SCRIPTS = ["bundle_facts.py", "doc_figures.py", "fetch_models", "marked_text.py",
                 "model_inputs.py", "packages_fetched.py", "peer_environment.py", "raw_rows.py",
                 "tree_build.py"]


class Stage:
    """The folder that becomes the package."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build
        self.programs = []  # ELF files of ours, as they lie here

    def copy(self, source, target):
        place = self.folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
        return place

    def program(self, name):
        """A program or library of the build, without symbols."""
        source = self.build / name
        if not source.is_file():
            raise PackageError(f"{source} is not there", "scripts/package builds it")
        place = self.copy(source, name)
        output_of("strip", "--strip-all", str(place))
        self.programs.append(place)

    def tracked(self, folder, keep):
        """Files of the sources below a folder that `keep` says yes to."""
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", folder],
                                stdout=subprocess.PIPE, text=True, check=False)
        names = listed.stdout.splitlines() if listed.returncode == 0 else [
            str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.is_file()]
        for name in sorted(names):
            if keep(pathlib.PurePath(name)) and (ROOT / name).is_file():
                self.copy(ROOT / name, name)


def add_product(stage):
    for name in ["bin/attune", "bin/example_run_model", "lib/libattune_runtime.so"]:
        stage.program(name)
    (stage.folder / "attune").symlink_to("bin/attune")
    stage.copy(ROOT / "src/runtime/attune.h", "include/attune.h")
    stage.copy(ROOT / "examples/c/run_model.c", "examples/c/run_model.c")
    stage.copy(ROOT / "scripts/portable/README.md", "README.md")
    stage.copy(ROOT / "LICENSE", "LICENSE")


def add_tests(stage):
    stage.program("bin/all_tests")
    for name in ["run_outputs", "run_kernel"]:
        stage.program(f"bin/{name}")
    for kernel in sorted((stage.build / "test_kernels").rglob("*.so")):
        stage.copy(kernel, kernel.relative_to(stage.build))
    stage.tracked("tests", lambda path: path.suffix not in {".cpp", ".h"})
    stage.copy(ROOT / "docs/support.md", "docs/support.md")
    lines = "".join(f"{label} {name}\n" for label, name in test_suites(ROOT))
    (stage.folder / "tests/list.txt").write_text(lines, encoding="utf-8")
    runner = (ROOT / "scripts/portable/run_tests.sh").read_text(encoding="utf-8")
    place = stage.folder / "tests/run"
    place.write_text(runner.replace("@BUILD@", str(stage.build)).replace("@CHECKOUT@", str(ROOT)),
                     encoding="utf-8")
    place.chmod(0o755)


def add_bench(stage):
    for program in sorted((stage.build / "bin").glob("bench_*")):
        stage.program(f"bin/{program.name}")
    stage.tracked("bench", lambda path: path.suffix not in {".cpp", ".h"})
    for script in BENCH_SCRIPTS:
        stage.copy(ROOT / "scripts" / script, f"scripts/{script}")
    stage.tracked("docs", lambda path: path.suffix == ".md")
    stage.tracked("tests/conformance", lambda path: path.suffix not in {".cpp", ".h"})


def add_libraries(stage):
    """Every library that the programs reach, but glibc; LLVM cut to what they use. Gives back where
    the libraries came from."""
    known, reached, sources = {}, set(), []
    for program in stage.programs:
        known.update(elf.library_paths(program))
    waiting = list(stage.programs)
    while waiting:
        for name in elf.needed(waiting.pop()):
            if name in reached or elf.GLIBC.match(name):
                continue
            reached.add(name)
            place = stage.folder / "lib" / name
            if place.exists():
                continue
            if name not in known:
                raise PackageError(f"the library {name} is not on this machine",
                                   "install the Debian packages of scripts/packages.txt")
            source = pathlib.Path(known[name])
            if llvm.NAME.match(name):
                llvm.cut_library(source, stage.programs, place)
            else:
                shutil.copy(source.resolve(), place)
                output_of("strip", "--strip-unneeded", str(place))
                sources.append(source)
            waiting.append(place)
    return sources


def check_portable(stage):
    """Nothing in the folder asks for more than the folder and an old enough glibc."""
    files = [path for path in stage.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(files):
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        name = path.relative_to(stage.folder)
        version = elf.newest_glibc(path)
        if version > NEWEST_GLIBC:
            raise PackageError(
                "%s uses glibc %d.%d, a package may use %d.%d at most"
                % (name, *version, *NEWEST_GLIBC), "make the package on Debian 12")
        for library in elf.needed(path):
            if not elf.GLIBC.match(library) and not (stage.folder / "lib" / library).exists():
                raise PackageError(f"{name} needs {library}, which the package does not hold")
    for program in stage.programs:
        if elf.search_path(program) != "$ORIGIN/../lib":
            raise PackageError(f"{program.name} does not look for libraries beside itself",
                               "remove build/release and build again")


def source_date():
    """The time that every file of the package bears: of the commit, unless SOURCE_DATE_EPOCH is set."""
    if os.environ.get("SOURCE_DATE_EPOCH", "").isdigit():
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0


def write_package(options):
    name = options.output.name.removesuffix(".tar.xz")
    with tempfile.TemporaryDirectory(prefix="attune-package-") as scratch:
        stage = Stage(pathlib.Path(scratch) / name, options.build.resolve())
        add_product(stage)
        if options.with_tests:
            add_tests(stage)
        if options.with_bench:
            add_bench(stage)
        libraries = add_libraries(stage)
        licences = stage.folder / "licenses"
        licences.mkdir()
        copy_licences(libraries, options.with_tests, licences)
        check_portable(stage)
        print(f"package: packing {sum(1 for _ in stage.folder.rglob('*'))} files", file=sys.stderr)
        write_archive(stage.folder, options.output, source_date())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--with-tests", action="store_true")
    parser.add_argument("--with-bench", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which removes what is half-written
    try:
        write_package(options)
    except (PackageError, OSError) as error:
        print(f"package: {error}", file=sys.stderr)
        if getattr(error, "hint", ""):
            print(f"hint: {error.hint}", file=sys.stderr)
        sys.exit(1)
    megabytes = options.output.stat().st_size / 1e6
    print(f"wrote {options.output}, {megabytes:.1f} MB")


if __name__ == "__main__":
    main()
