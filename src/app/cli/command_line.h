// The arguments of one command: options are declared once, bound to the variables that receive
// them; parsing, the help page and the sentences about wrong usage follow from the declarations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::cli {

struct Example {
  std::string line;  // without "attune "
  std::string meaning;
};

enum class Parsed { Run, Help };

class CommandLine {
 public:
  // `command` is what the user types after "attune", e.g. "records list".
  CommandLine(std::string command, std::string summary);

  // Arguments by position, in the order of their declaration.
  void required(std::string name, std::string& into, std::string meaning);
  void optional(std::string name, std::string& into, std::string meaning);

  // Names are written as "-o,--output"; `value` is what the help page calls the value.
  void flag(std::string names, bool& into, std::string meaning);
  void text(std::string names, std::string value, std::string& into, std::string meaning);
  // May be given more than once.
  void texts(std::string names, std::string value, std::vector<std::string>& into,
             std::string meaning);
  // Whole numbers and decimal ones; others than those from `least` to `most` are wrong usage.
  void number(std::string names, std::string value, std::optional<std::int64_t>& into,
              std::int64_t least, std::int64_t most, std::string meaning);
  void real(std::string names, std::string value, std::optional<double>& into, double least,
            double most, std::string meaning);

  // Options declared from now on are listed under this title.
  void group(std::string title) { group_ = std::move(title); }
  void example(std::string line, std::string meaning);

  // Without the command itself.
  Result<Parsed> parse(std::span<const std::string> arguments);
  // Whether the option was among the arguments, by its long name.
  bool given(std::string_view option) const;
  std::string help() const;

 private:
  // Given the texts of the option, its values in order.
  using Take = std::function<Status(const std::vector<std::string>&)>;
  struct Argument {
    std::string names = {};
    std::string value = {};  // empty: a flag
    std::string meaning = {};
    bool positional = false;
    bool is_required = false;
    std::string group = {};  // empty: the general one
    Take take = {};
    std::vector<std::string> given = {};
    std::int64_t times = 0;
  };
  Error unknown_option(const std::string& word) const;
  Error unexpected(const std::string& word) const;
  Status check_extras(const std::vector<std::string>& extras) const;
  Status take_values();

  void add(Argument argument);
  std::string option_lines(const std::string& group) const;

  std::string command_, summary_, group_;
  std::vector<Argument> arguments_;
  std::vector<Example> examples_;
  bool help_ = false;
};

}  // namespace attune::cli
