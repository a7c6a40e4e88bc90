"""The licences of what a package carries, as Debian states them."""
import pathlib
import re
import shutil
import subprocess

from elf import PackageError

DOCS = pathlib.Path("/usr/share/doc")
TEXTS = pathlib.Path("/usr/share/common-licenses")
# Compiled in: header-only and static libraries.
COMPILED_IN = ["llvm-19-dev", "liblld-19-dev", "nlohmann-json3-dev", "libcli11-dev", "libeigen3-dev"]
COMPILED_INTO_TESTS = ["libgtest-dev", "librapidcheck-dev"]


def package_of(path):
    """The Debian package that a file came with."""
    real = path.resolve()
    names = [str(real), str(real).removeprefix("/usr")]
    for name in names:
        try:
            done = subprocess.run(["dpkg-query", "-S", name], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False)
        except FileNotFoundError as error:
            raise PackageError("the licences of libraries are read from Debian's packages, and this "
                               "is not a Debian system", "make the package on Debian 12") from error
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise PackageError(f"no Debian package holds {real}, so its licence is not known",
                       "take the library from a Debian package")


def copy_licences(libraries, with_tests, folder):
    """One file per package, and the common texts that they point to."""
    packages = {package_of(library) for library in libraries} | set(COMPILED_IN)
    if with_tests:
        packages |= set(COMPILED_INTO_TESTS)
    texts = set()
    for package in sorted(packages):
        source = DOCS / package / "copyright"
        if not source.is_file():
            raise PackageError(f"{source} is missing, so the licence of {package} is not known",
                               f"install the Debian package {package} with its documentation")
        shutil.copyfile(source, folder / package)
        found = re.findall(r"/usr/share/common-licenses/([\w.-]*\w)",
                           source.read_text(encoding="utf-8", errors="replace"))
        texts |= set(found)
    for text in sorted(texts):
        if (TEXTS / text).is_file():
            shutil.copyfile(TEXTS / text, folder / f"{text}.txt")
