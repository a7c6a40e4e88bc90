#!/usr/bin/env python3
"""Shows that interpreters of the user's are taken as they are, and refused in a sentence."""

import os
import unittest
from unittest import mock

import peer_environment


class UsersInterpreter(unittest.TestCase):
    def test_what_is_missing_has_a_reason(self):
        self.assertIsNone(peer_environment.unusable("json"))
        self.assertEqual(peer_environment.unusable("no_such_runtime"),
                         "ModuleNotFoundError: No module named 'no_such_runtime'")

    def test_a_program_that_is_not_there_is_refused(self):
        with self.assertRaises(SystemExit) as refused:
            peer_environment.use("/no/such/python", [])
        self.assertEqual(refused.exception.code, "there is no program '/no/such/python'")

    def test_inside_it_nothing_is_begun_anew(self):
        program = peer_environment.sys.executable
        with mock.patch.dict(os.environ, {peer_environment.MARK: os.path.abspath(program)}):
            with mock.patch.object(os, "execve", side_effect=AssertionError("begun anew")):
                peer_environment.use(program, ["json"])
                with self.assertRaises(SystemExit) as refused:
                    peer_environment.use(program, ["no_such_runtime"])
        self.assertIn("cannot import no_such_runtime", refused.exception.code)

    def test_outside_it_the_command_goes_on_there(self):
        program = peer_environment.sys.executable
        with mock.patch.object(os, "execve") as begun:
            peer_environment.use(program, [])
        self.assertEqual(begun.call_args.args[0], os.path.abspath(program))
        self.assertEqual(begun.call_args.args[2][peer_environment.MARK], os.path.abspath(program))


if __name__ == "__main__":
    unittest.main()
