#include "app/cli/printable.h"

#include <gtest/gtest.h>

#include "app/cli/console.h"

namespace attune::cli {
namespace {

TEST(Printable, CommandsToTheTerminalAreQuestionMarks) {
  EXPECT_EQ(printable("a\033]0;title\007b\r\x7f\n\u00e4"), "a?]0;title?b??\n\u00e4");
  EXPECT_EQ(printable("a\u009b31mb"), "a?31mb") << "a command of two bytes";
  EXPECT_EQ(printable("\xc2"), "\xc2");
  EXPECT_EQ(one_line("job\nj1 failed"), "job j1 failed");
}

TEST(Console, WhatItNotesCommandsNothing) {
  Console console;
  testing::internal::CaptureStderr();
  console.note("job j7 (\033[2J): its worker crashed\nand was replaced");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "job j7 (?[2J): its worker crashed\nand was replaced\n");
}

}  // namespace
}  // namespace attune::cli
