#include "app/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest.h"

namespace attune::cli {
namespace {

// "--output" of "-o,--output": the name that messages use.
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

std::string usage_hint(const std::string& command) {
  return fmt::format("'attune {} --help' lists its options", command);
}

std::string shown(double value) { return fmt::format("{:g}", value); }
std::string shown(std::int64_t value) { return std::to_string(value); }

template <typename Number>
Result<Number> parse_number(const std::string& name, const std::string& text, Number least,
                            Number most, std::string_view kind) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  const bool parsed = stop == end && !text.empty() && failure != std::errc::invalid_argument;
  if (!parsed) return invalid(fmt::format("{} is '{}', which is not a {}", name, text, kind));
  if (failure != std::errc() || !(value >= least && value <= most)) {
    return invalid(
        fmt::format("{} is {}, must be between {} and {}", name, text, shown(least), shown(most)));
  }
  return value;
}

}  // namespace

CommandLine::CommandLine(std::string command, std::string summary)
    : command_(std::move(command)), summary_(std::move(summary)) {
  flag("-h,--help", help_, "print this page");
}

void CommandLine::required(std::string name, std::string& into, std::string meaning) {
  optional(std::move(name), into, std::move(meaning));
  arguments_.back().is_required = true;
}

void CommandLine::optional(std::string name, std::string& into, std::string meaning) {
  text(name, name, into, std::move(meaning));
  arguments_.back().positional = true;
}

void CommandLine::flag(std::string names, bool& into, std::string meaning) {
  Argument argument{std::move(names), "", std::move(meaning)};
  argument.take = [&into](const std::vector<std::string>&) -> Status {
    into = true;
    return {};
  };
  add(std::move(argument));
}

void CommandLine::text(std::string names, std::string value, std::string& into,
                       std::string meaning) {
  Argument argument{std::move(names), std::move(value), std::move(meaning)};
  argument.take = [&into](const std::vector<std::string>& given) -> Status {
    into = given.back();
    return {};
  };
  add(std::move(argument));
}

void CommandLine::texts(std::string names, std::string value, std::vector<std::string>& into,
                        std::string meaning) {
  Argument argument{std::move(names), std::move(value), std::move(meaning)};
  argument.take = [&into](const std::vector<std::string>& given) -> Status {
    into = given;
    return {};
  };
  add(std::move(argument));
}

void CommandLine::number(std::string names, std::string value, std::optional<std::int64_t>& into,
                         std::int64_t least, std::int64_t most, std::string meaning) {
  Argument argument{std::move(names), std::move(value), std::move(meaning)};
  argument.take = [&into, least, most, name = long_name(argument.names)](
                      const std::vector<std::string>& given) -> Status {
    ATTUNE_ASSIGN(into,
                  parse_number<std::int64_t>(name, given.back(), least, most, "whole number"));
    return {};
  };
  add(std::move(argument));
}

void CommandLine::real(std::string names, std::string value, std::optional<double>& into,
                       double least, double most, std::string meaning) {
  Argument argument{std::move(names), std::move(value), std::move(meaning)};
  argument.take = [&into, least, most, name = long_name(argument.names)](
                      const std::vector<std::string>& given) -> Status {
    ATTUNE_ASSIGN(into, parse_number<double>(name, given.back(), least, most, "number"));
    return {};
  };
  add(std::move(argument));
}

void CommandLine::add(Argument argument) {
  argument.group = group_;
  arguments_.push_back(std::move(argument));
}

void CommandLine::example(std::string line, std::string meaning) {
  examples_.push_back({std::move(line), std::move(meaning)});
}

Error CommandLine::unknown_option(const std::string& word) const {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const Argument& argument : arguments_) {
    if (!argument.positional) known.push_back(long_name(argument.names));
  }
  const std::string guess = nearest(name, known);
  return invalid(fmt::format("'{}' has no option '{}'", command_, name),
                 guess.empty() ? usage_hint(command_) : fmt::format("did you mean '{}'?", guess));
}

Status CommandLine::check_extras(const std::vector<std::string>& extras) const {
  for (const std::string& word : extras) {
    if (word.size() > 1 && word[0] == '-') return unknown_option(word);
  }
  if (extras.empty()) return {};
  return unexpected(extras.front());
}

Error CommandLine::unexpected(const std::string& word) const {
  return invalid(fmt::format("unexpected argument '{}' after '{}'", word, command_),
                 usage_hint(command_));
}

Status CommandLine::take_values() {
  for (const Argument& argument : arguments_) {
    if (argument.is_required && argument.given.empty()) {
      std::string hint = usage_hint(command_);
      if (!examples_.empty()) hint = fmt::format("for example: attune {}", examples_.front().line);
      return invalid(fmt::format("'{}' needs {}", command_, argument.meaning), hint);
    }
    if (argument.times == 0) continue;
    if (argument.positional && argument.times > 1) return unexpected(argument.given[1]);
    ATTUNE_RETURN_IF_ERROR(argument.take(argument.given));
  }
  return {};
}

Result<Parsed> CommandLine::parse(std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (Argument& argument : arguments_) {
    argument.given.clear();
    argument.times = 0;
    if (argument.value.empty()) {
      app.add_flag(argument.names, argument.times);
    } else {
      // One value each time it is given; the words behind it are not its own.
      CLI::Option* option = app.add_option(argument.names, argument.given);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      option->expected(1)->allow_extra_args(argument.positional);
    }
  }
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ArgumentMismatch& failure) {
    const std::string name = std::string(failure.what());
    return invalid(fmt::format("option {} needs a value", name.substr(0, name.find(':'))),
                   usage_hint(command_));
  } catch (const CLI::ConversionError& failure) {
    // Only flags have a type: "Could not convert: --json = maybe".
    const std::string text = std::string(failure.what());
    const std::size_t start = std::min(text.find('-'), text.size());
    return invalid(
        fmt::format("option {} takes no value", text.substr(start, text.find(' ', start) - start)),
        usage_hint(command_));
  } catch (const CLI::ParseError& failure) {
    return invalid(fmt::format("the arguments of '{}' make no sense: {}", command_, failure.what()),
                   usage_hint(command_));
  }
  for (Argument& argument : arguments_) {
    if (!argument.value.empty()) argument.times = static_cast<std::int64_t>(argument.given.size());
  }
  if (arguments_.front().times > 0) return Parsed::Help;
  ATTUNE_RETURN_IF_ERROR(check_extras(app.remaining()));
  ATTUNE_RETURN_IF_ERROR(take_values());
  return Parsed::Run;
}

bool CommandLine::given(std::string_view option) const {
  return std::any_of(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return argument.times > 0 && long_name(argument.names) == option;
  });
}

std::string CommandLine::option_lines(const std::string& group) const {
  std::string lines;
  for (const Argument& argument : arguments_) {
    if (argument.positional || argument.group != group) continue;
    std::string names = argument.names;
    if (const std::size_t comma = names.find(','); comma != std::string::npos) {
      names.insert(comma + 1, " ");
    } else {
      names = "    " + names;
    }
    lines +=
        fmt::format("  {:<24} {}\n", argument.value.empty() ? names : names + " " + argument.value,
                    argument.meaning);
  }
  return lines;
}

std::string CommandLine::help() const {
  std::string usage = fmt::format("usage: attune {}", command_);
  std::string positionals;
  std::vector<std::string> groups;
  for (const Argument& argument : arguments_) {
    if (argument.positional) {
      usage += argument.is_required ? " " + argument.names : " [" + argument.names + "]";
      positionals += fmt::format("  {:<24} {}\n", argument.names, argument.meaning);
    } else if (std::find(groups.begin(), groups.end(), argument.group) == groups.end()) {
      groups.push_back(argument.group);
    }
  }
  std::string page = fmt::format("{} [option]...\n\n{}\n\n", usage, summary_);
  if (!positionals.empty()) page += positionals + "\n";
  page += fmt::format("options:\n{}", option_lines(""));
  for (const std::string& group : groups) {
    if (!group.empty()) page += fmt::format("\n{}:\n{}", group, option_lines(group));
  }
  if (!examples_.empty()) page += "\nexamples:\n";
  for (const Example& example : examples_) {
    page += fmt::format("  attune {}\n      {}\n", example.line, example.meaning);
  }
  return page;
}

}  // namespace attune::cli
