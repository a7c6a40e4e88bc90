// Command lines that must fail, each with its exact sentence, hint and exit status.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"

namespace attune::test {

struct BadCommand {
  std::string line;  // words between blanks; '%' stands for a blank within a word
  int status;
  std::string message;
  std::string hint = {};
};

class BadCommands : public ::testing::Test {
 protected:
  // Words in braces stand for what differs from machine to machine, {dir} is the test's directory,
  // and for names of lists that may grow: {policies}.
  std::string filled(std::string text) const;
  ProcessResult run(const std::string& line) const;
  // Nothing but the error is printed.
  void expect_all(const std::vector<BadCommand>& commands) const;

  TemporaryDirectory directory_;
};

}  // namespace attune::test
