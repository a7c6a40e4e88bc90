"""A folder as one compressed tar: the same bytes whenever it is written from the same files."""
import lzma
import os
import tarfile


def members(folder):
    """Every file and folder below, in an order that depends on names alone."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *files]):
            yield os.path.join(place, name)


def plain(member, seconds):
    """An entry without what differs from machine to machine."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = seconds
    runs = member.isdir() or member.mode & 0o100
    member.mode = 0o777 if member.issym() else 0o755 if runs else 0o644
    return member


def write_archive(folder, target, seconds):
    """Writes the folder, under its own name, beside the target and then renames it."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with lzma.open(part, "wb", preset=9) as stream:
            with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
                paths = sorted([str(folder), *members(folder)])
                for path in paths:
                    name = os.path.relpath(path, folder.parent)
                    tar.add(path, arcname=name, recursive=False,
                            filter=lambda member: plain(member, seconds))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
