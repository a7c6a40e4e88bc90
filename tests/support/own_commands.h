// Commands as a user types them, with data of their own in a directory that goes with the test.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"

namespace attune::test {

class OwnCommands : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> words) const;
  // What a command that succeeds prints; `--json` is added for the document.
  std::string output_of(const std::vector<std::string>& words) const;
  nlohmann::json json_of(std::vector<std::string> words) const;

  TemporaryDirectory directory_;
};

}  // namespace attune::test
