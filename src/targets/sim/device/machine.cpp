#include "targets/sim/device/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attune::sim {
namespace {

std::string attribute_names() {
  std::string names;
  for (const Attribute& attribute : attributes()) {
    names += fmt::format("{}-{}", names.empty() ? "" : ", ", attribute.name);
  }
  return names;
}

Status set_attribute(Machine& machine, std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view name = word.substr(word.starts_with('-') ? 1 : 0, equals - 1);
  for (const Attribute& attribute : attributes()) {
    if (equals == std::string_view::npos || name != attribute.name) continue;
    const std::string_view text = word.substr(equals + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc{} && end == text.data() + text.size();
    if (!number || value < attribute.least || value > attribute.most) {
      return invalid(fmt::format("-{} of a simulated device is '{}'", attribute.name, text),
                     fmt::format("choose a number from {} to {}", attribute.least, attribute.most));
    }
    machine.*attribute.field = value;
    return {};
  }
  return invalid(fmt::format("a simulated device has no attribute '{}'", word),
                 "attributes are " + attribute_names());
}

}  // namespace

const std::vector<Attribute>& attributes() {
  static const std::vector<Attribute> all = {
      {"multiprocessors", &Machine::multiprocessors, 1, 1024},
      {"shared_kb", &Machine::shared_kb, 1, 1024},
      {"warp", &Machine::warp, 1, 128},
      {"threads_per_block", &Machine::threads_per_block, 1, 4096},
      {"register_bytes", &Machine::register_bytes, 64, 65536},
      {"clock_mhz", &Machine::clock_mhz, 1, 100000},
  };
  return all;
}

std::string to_string(const Machine& machine) {
  std::string text;
  const Machine usual;
  for (const Attribute& attribute : attributes()) {
    const std::int64_t value = machine.*attribute.field;
    if (value == usual.*attribute.field) continue;
    text += fmt::format("{}-{}={}", text.empty() ? "" : " ", attribute.name, value);
  }
  return text;
}

Result<Machine> parse_machine(std::string_view text) {
  Machine machine;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    const auto end = std::min(text.find(' ', at), text.size());
    ATTUNE_RETURN_IF_ERROR(set_attribute(machine, text.substr(at, end - at)));
    at = end;
  }
  return machine;
}

}  // namespace attune::sim
