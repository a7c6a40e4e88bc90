"""A libLLVM with only what given programs use.

Debian's libLLVM.so holds all code generators, 129 MB. The same code lies in the static libraries of
llvm-19-dev: linked again into a shared library of the same name, from the symbols that the programs
ask for, it holds nothing that these do not reach.

lld, which is part of the programs, initialises whatever code generators LLVM has, for a kind of linking
that is not used here. Those that our own sources do not initialise become empty functions.
"""
import pathlib
import re
import tempfile

from elf import PackageError, defined_symbols, dynamic_symbols, output_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"^libLLVM[.-]")
# Of linking bitcode, which has plug-ins; kernels are linked as machine code.
NEVER_CALLED = ["_Z18getPollyPluginInfov"]
INITIALISER = re.compile(r"\bLLVMInitialize\w+")


def archives_for(library, empty):
    """The static libraries that belong to a shared one, by the number in its name, without those of
    code generators whose initialisers are empty."""
    unused = {name.removeprefix("LLVMInitialize").removesuffix("TargetInfo")
              for name in empty if name.endswith("TargetInfo")}
    code_generator = re.compile(
        r"libLLVM(%s)(AsmParser|CodeGen|Desc|Disassembler|Info|Utils|TargetMCA)\.a"
        % "|".join(sorted(unused)))
    version = re.search(r"(\d+)", library.name).group(1)
    folder = pathlib.Path(f"/usr/lib/llvm-{version}/lib")
    found = [path for path in sorted(folder.glob("libLLVM*.a"))
             if not code_generator.fullmatch(path.name)]
    if not found:
        raise PackageError(f"there are no static libraries of LLVM in {folder}",
                           f"install the Debian package llvm-{version}-dev")
    return found


def own_initialisers():
    """The functions that our sources call to make code generators known."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.cpp"))
    return {name for text in texts for name in INITIALISER.findall(text)}


def cut_library(library, programs, output):
    """Links `output`, which serves `programs` in the place of `library`."""
    known = defined_symbols(library)
    asked, shared = (set().union(*names) & known.keys()
                     for names in zip(*map(dynamic_symbols, programs)))
    versions = {known[name] for name in asked}
    if len(versions) != 1:
        raise PackageError(f"{library.name} has {len(versions)} symbol versions, expected 1")
    empty = {name for name in asked if INITIALISER.fullmatch(name)} - own_initialisers()
    with tempfile.TemporaryDirectory(prefix="attune-llvm-") as scratch:
        script, roots, stubs = (pathlib.Path(scratch) / name for name in ["map", "roots", "stubs.c"])
        script.write_text("%s {\n  global:\n    %s;\n  local: *;\n};\n"
                          % (versions.pop(), ";\n    ".join(sorted(asked | shared))), encoding="utf-8")
        roots.write_text("EXTERN(\n%s\n)\n" % "\n".join(sorted(asked - empty)), encoding="utf-8")
        stubs.write_text("".join(f"void {name}(void) {{}}\n" for name in sorted(empty))
                         + "".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in NEVER_CALLED),
                         encoding="utf-8")
        output_of("c++", "-shared", "-fPIC", "-o", str(output), f"-Wl,-soname,{library.name}",
                  f"-Wl,--version-script={script}", "-Wl,--gc-sections", "-Wl,-Bsymbolic-functions",
                  "-Wl,-O1,-z,now,-z,defs,--strip-all", "-x", "c", str(stubs), "-x", "none", str(roots),
                  "-Wl,--start-group",
                  *map(str, archives_for(library, empty)), "-Wl,--end-group", "-Wl,--as-needed",
                  "-lz", "-lzstd", "-lm", "-ldl", "-lpthread")
