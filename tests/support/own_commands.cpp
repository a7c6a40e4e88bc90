#include "tests/support/own_commands.h"

namespace attune::test {

ProcessResult OwnCommands::run(std::vector<std::string> words) const {
  words.insert(words.begin(), attune_program());
  return run_process(words, {{"XDG_DATA_HOME", directory_.file("data")}});
}

std::string OwnCommands::output_of(const std::vector<std::string>& words) const {
  const ProcessResult result = run(words);
  EXPECT_EQ(result.status, 0) << result.errors;
  return result.output;
}

nlohmann::json OwnCommands::json_of(std::vector<std::string> words) const {
  words.emplace_back("--json");
  return nlohmann::json::parse(output_of(words), nullptr, false);
}

}  // namespace attune::test
