#include "compiler/ir/target.h"

#include <fmt/format.h>

#include <charconv>

namespace attune::ir {
namespace {

constexpr std::string_view kHint = "write a target like 'cpu -mcpu=znver3 -threads=2'";

Status set_attribute(Target& target, std::string_view word) {
  const auto equals = word.find('=');
  if (word.empty() || word[0] != '-' || equals == std::string_view::npos) {
    return invalid(fmt::format("'{}' is not a target attribute", word), std::string(kHint));
  }
  const auto key = word.substr(1, equals - 1);
  const auto value = word.substr(equals + 1);
  if (key == "triple") {
    target.triple = value;
  } else if (key == "mcpu") {
    target.cpu = value;
  } else if (key == "mattr") {
    target.features = value;
  } else if (key == "threads") {
    int threads = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    if (error != std::errc{} || end != value.data() + value.size() || threads < 1 ||
        threads > 1024) {
      return invalid(
          fmt::format("thread count '{}' of the target is not between 1 and 1024", value),
          std::string(kHint));
    }
    target.threads = threads;
  } else {
    return invalid(fmt::format("unknown target attribute '{}'", key), std::string(kHint));
  }
  return {};
}

}  // namespace

std::string to_string(const Target& target) {
  std::string text = target.kind;
  if (!target.triple.empty()) text += " -triple=" + target.triple;
  if (!target.cpu.empty()) text += " -mcpu=" + target.cpu;
  if (!target.features.empty()) text += " -mattr=" + target.features;
  if (target.threads > 0) text += fmt::format(" -threads={}", target.threads);
  return text;
}

Result<Target> parse_target(std::string_view text) {
  Target target;
  bool first = true;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    if (first) {
      target.kind = word;
      first = false;
      continue;
    }
    ATTUNE_RETURN_IF_ERROR(set_attribute(target, word));
  }
  if (target.kind != "cpu" || first) {
    return invalid(fmt::format("unknown target kind '{}'", first ? std::string() : target.kind),
                   std::string(kHint));
  }
  return target;
}

}  // namespace attune::ir
