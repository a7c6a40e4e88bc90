#!/usr/bin/env python3
"""Tests of archive.py: same files, same bytes; nothing half-written."""
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
from archive import write_archive  # noqa: E402


class Archive(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.base = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def folder(self, where, names):
        folder = self.base / where / "thing"
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            path.chmod(0o700 if "run" in name else 0o600)
        (folder / "link").symlink_to("b/run")
        return folder

    def test_same_files_give_the_same_bytes_whenever_and_wherever_they_were_made(self):
        one = self.folder("x", ["b/run", "a", "b/c"])
        two = self.folder("y", ["b/c", "b/run", "a"])
        os.utime(two / "a", (5, 5))
        write_archive(one, self.base / "one.tar.xz", 1000)
        write_archive(two, self.base / "two.tar.xz", 1000)
        self.assertEqual((self.base / "one.tar.xz").read_bytes(), (self.base / "two.tar.xz").read_bytes())
        with tarfile.open(self.base / "one.tar.xz") as tar:
            names = tar.getnames()
            self.assertEqual(names, ["thing", "thing/a", "thing/b", "thing/b/c", "thing/b/run", "thing/link"])
            self.assertEqual({m.mtime for m in tar}, {1000})
            self.assertEqual([tar.getmember(f"thing/{n}").mode for n in ["a", "b/run"]], [0o644, 0o755])

    def test_what_fails_leaves_the_old_file_and_nothing_else(self):
        folder = self.folder("x", ["a"])
        target = self.base / "out" / "thing.tar.xz"
        target.parent.mkdir()
        target.write_text("old")
        with self.assertRaises(ValueError):
            write_archive(folder, target, 2**200)  # no header of a tar holds it
        self.assertEqual([p.name for p in target.parent.iterdir()], ["thing.tar.xz"])
        self.assertEqual(target.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
