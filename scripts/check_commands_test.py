#!/usr/bin/env python3
"""What check_commands.py finds in the commands of a build."""
import sys
import unittest

sys.dont_write_bytecode = True
import check_commands  # noqa: E402


def offences(command, text=""):
    entry = {"file": "/clone/src/a.cpp", "directory": "/clone/build", "command": f"g++ {command} -c a.cpp"}
    return list(check_commands.offences(entry, text))


class Commands(unittest.TestCase):
    def test_names_and_numbers_are_no_places(self):
        self.assertEqual(offences(r'-DNDEBUG -DVERSION=\"1.0\" -DFOLDER=\"kernels/a\" -I/clone/src'), [])

    def test_a_place_on_this_machine(self):
        self.assertEqual(offences(r'-DDATA=\"/clone/tests\"'),
                         ['/clone/src/a.cpp: DATA is "/clone/tests", which is elsewhere in another clone; '
                          "find it by src/base/built_path_testing.h"])
        self.assertEqual(len(offences("-DDATA=/clone/tests")), 1)

    def test_what_is_embedded_is_known(self):
        text = '#include "x.h"\nATTUNE_TEXT(page, "page.txt")\n'
        self.assertEqual(offences("-DATTUNE_EMBEDDED=12ab", text), [])
        self.assertEqual(offences("", text),
                         ["/clone/src/a.cpp: holds files that its command does not know; see attune_embeds "
                          "in cmake/"])


if __name__ == "__main__":
    unittest.main()
