#include "tests/support/bad_commands.h"

#include "runtime/execution/affinity.h"
#include "targets/kinds.h"

namespace attune::test {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string BadCommands::filled(std::string text) const {
  const auto here = targets::resolve({});
  const std::size_t cores = runtime::allowed_cores().size();
  replace_all(text, "{dir}", directory_.path().string());
  replace_all(text, "{cores}", std::to_string(cores));
  replace_all(text, "{cores of}", std::to_string(cores) + (cores == 1 ? " core" : " cores"));
  replace_all(text, "{triple}", std::string(here->attribute("triple")));
  replace_all(text, "{cpu}", std::string(here->attribute("mcpu")));
  return text;
}

ProcessResult BadCommands::run(const std::string& line) const {
  std::vector<std::string> words = {attune_program()};
  const std::string text = filled(line);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    replace_all(word, "%", " ");
    words.push_back(word);
    at = end + 1;
  }
  return run_process(words, {{"XDG_DATA_HOME", directory_.path().string()}});
}

void BadCommands::expect_all(const std::vector<BadCommand>& commands) const {
  for (const BadCommand& command : commands) {
    const ProcessResult result = run(command.line);
    std::string expected = "attune: error: " + filled(command.message) + "\n";
    if (!command.hint.empty()) expected += "hint: " + filled(command.hint) + "\n";
    EXPECT_EQ(result.errors, expected) << "attune " << command.line;
    EXPECT_EQ(result.status, command.status) << "attune " << command.line;
    EXPECT_EQ(result.output, "") << "attune " << command.line;
  }
}

}  // namespace attune::test
