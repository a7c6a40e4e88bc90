#include "tests/support/bad_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ops/forms/family.h"
#include "fleet/jobs/policies/policies.h"
#include "runtime/execution/affinity.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/facts/known_caches.h"
#include "targets/kinds.h"
#include "tuner/cost_model/learner.h"
#include "tuner/explore/explorer.h"

namespace attune::test {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

template <typename Range, typename NameOf>
std::string names_of(const Range& range, const NameOf& name_of) {
  std::vector<std::string_view> names;
  for (const auto& one : range) names.push_back(name_of(one));
  return fmt::format("{}", fmt::join(names, ", "));
}

void fill_lists(std::string& text) {
  const auto name = [](const auto& one) { return std::string_view(one.name); };
  replace_all(text, "{explorers}", fmt::format("{}", fmt::join(explore::explorer_names(), ", ")));
  replace_all(text, "{operators}", names_of(ops::families(), name));
  replace_all(text, "{policies}", names_of(jobs::policies(), name));
  replace_all(text, "{kinds}",
              names_of(targets::kinds(), [](const target::Kind* kind) { return kind->name; }));
}

// The models that look at an option.
void fill_models(std::string& text, const std::string& word, bool cost_model::LearnerUses::*use) {
  std::vector<std::string_view> names;
  for (const std::string_view model : cost_model::learner_names()) {
    if (cost_model::uses_of(model).*use) names.push_back(model);
  }
  replace_all(text, word, fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

std::string BadCommands::filled(std::string text) const {
  const auto here = targets::resolve({});
  const std::size_t cores = runtime::allowed_cores().size();
  fill_lists(text);
  fill_models(text, "{models with features}", &cost_model::LearnerUses::features);
  fill_models(text, "{models with analytic}", &cost_model::LearnerUses::analytic);
  fill_models(text, "{models with acquisition}", &cost_model::LearnerUses::acquisition);
  fill_models(text, "{models with ensemble}", &cost_model::LearnerUses::ensemble);
  replace_all(text, "{dir}", directory_.path().string());
  replace_all(text, "{cores}", std::to_string(cores));
  replace_all(text, "{cores of}", std::to_string(cores) + (cores == 1 ? " core" : " cores"));
  replace_all(text, "{triple}", std::string(here->attribute("triple")));
  replace_all(text, "{target}", target::to_string(*here));
  replace_all(text, "{cpu}", std::string(here->attribute("mcpu")));
  const auto cpus = [](std::string_view architecture) {
    return fmt::format("{}", fmt::join(cpu::known_cpus(architecture), ", "));
  };
  replace_all(text, "{cpus}", cpus(cpu::host_architecture()));
  replace_all(text, "{cpus of arm}", cpus("aarch64"));
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
