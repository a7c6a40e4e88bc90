"""A root file system with next to nothing in it, to run a package in.

It holds the files of a few installed Debian packages, and the kernel's /proc, /sys and /dev; programs
run there as a user without rights, without network, and with an empty environment.
"""
import os
import pathlib
import shutil
import subprocess

LIBC = ["libc6"]
# What test programs call besides: a shell and small commands.
SHELL = [*LIBC, "dash", "bash", "coreutils", "libtinfo6", "libselinux1", "libpcre2-8-0", "libacl1",
         "libattr1", "libgmp10", "grep", "sed"]
MERGED = {"bin", "sbin", "lib", "lib64"}  # links into usr/
ENTER = """set -e
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
exec chroot $CHROOT_OPTIONS "$0" "$@"
"""


def installed_files(package):
    listed = subprocess.run(["dpkg-query", "-L", package], stdout=subprocess.PIPE, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = pathlib.Path(name)
        if path.is_relative_to("/usr/share"):
            continue
        if path.is_symlink() or path.is_file():
            yield path


class BareRoot:
    def __init__(self, folder, packages):
        self.folder = pathlib.Path(folder)
        for name in ["proc", "dev", "sys", "tmp", "etc", *(f"usr/{name}" for name in MERGED)]:
            (self.folder / name).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        for name in MERGED:
            (self.folder / name).symlink_to(f"usr/{name}")
        for package in packages:
            for path in installed_files(package):
                self.add(path)

    def add(self, path):
        parts = path.parts[1:]
        place = self.folder.joinpath(*(("usr", *parts) if parts[0] in MERGED else parts))
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() and not place.is_symlink():
            shutil.copy2(path, place, follow_symlinks=False)

    def run(self, *command, environment=None, timeout=600):
        """Runs a command of the root as nobody; what subprocess.run gives."""
        as_root = os.getuid() == 0
        unshare = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        if not as_root:
            unshare.append("--map-root-user")
        variables = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/tmp", "LC_ALL": "C.UTF-8",
                     "CHROOT_OPTIONS": "--userspec=65534:65534" if as_root else "",
                     **(environment or {})}
        return subprocess.run([*unshare, "sh", "-c", ENTER, str(self.folder), *command],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables,
                              timeout=timeout, check=False)
