"""What an ELF file asks of the machine it runs on, as binutils tells it."""
import re
import subprocess

# Parts of glibc, which every Linux of the kind has; all else travels with the package.
GLIBC = re.compile(r"^(lib(c|m|dl|rt|pthread|util|resolv|anl)\.so\.\d+|ld-linux-x86-64\.so\.2)$")


class PackageError(Exception):
    """A package that cannot be made; the text says why, `hint` what to do."""

    def __init__(self, sentence, hint=""):
        super().__init__(sentence)
        self.hint = hint


def output_of(*command):
    """What a command prints, or a PackageError with its last words."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    except FileNotFoundError as error:
        raise PackageError(f"there is no program '{command[0]}'",
                           "install the Debian package binutils") from error
    if done.returncode != 0:
        words = " ".join(done.stderr.split())[-300:]
        raise PackageError(f"{command[0]} failed with status {done.returncode}: {words}")
    return done.stdout


def needed(path):
    """The names of the libraries that a file asks the loader for."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", str(path)))


def search_path(path):
    """Where the loader looks for them first: the RPATH, or '' without one."""
    found = re.search(r"\(RPATH\).*\[(.*)\]", output_of("readelf", "-dW", str(path)))
    return found.group(1) if found else ""


def newest_glibc(path):
    """The newest version of glibc that a file uses symbols of, as (2, 36); (0, 0) for none."""
    text = output_of("readelf", "-VW", str(path))
    versions = [tuple(int(part) for part in found.split("."))
                for found in re.findall(r"Name: GLIBC_(\d+(?:\.\d+)+)", text)]
    return max((version[:2] for version in versions), default=(0, 0))


def dynamic_symbols(path):
    """The names in a file's dynamic symbol table: those that it asks of libraries, and those that it
    defines itself, which libraries then share. Data that a program copies out of a library counts
    as asked for."""
    asked, own = set(), set()
    for line in output_of("nm", "-D", str(path)).splitlines():
        kind, (name, _, version) = line.split()[-2], line.split()[-1].partition("@")
        (asked if kind in "Uw" or version else own).add(name)
    return asked, own


def defined_symbols(path):
    """The names that a library defines, each with the version it has there ('' for none)."""
    symbols = {}
    for line in output_of("nm", "-D", "--defined-only", str(path)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        symbols[name] = version.lstrip("@")
    return symbols


def library_paths(program):
    """Where the loader of this machine finds each library of a program: {name: path}."""
    lines = output_of("ldd", str(program)).splitlines()
    return dict(found.groups() for found in map(re.compile(r"\s*(\S+) => (/\S+)").match, lines)
                if found)
