#include "targets/cuda/codegen/waiting.h"

#include <algorithm>
#include <span>

namespace attune::cuda {
namespace {

constexpr std::string_view kWait = "griddepcontrol.wait";
// Instructions that touch memory which others may write, by how they begin. Whatever else there is,
// copies in bulk and fences among it, has one of these names as well.
constexpr std::string_view kTouching[] = {"ld.",  "ldu.",      "st.",   "atom.", "red.",
                                          "cp.",  "tex.",      "suld.", "sust.", "prefetch",
                                          "call", "multimem.", "wgmma"};
// Memory that is nobody else's.
constexpr std::string_view kOwn[] = {"ld.param", "ld.local", "st.local", "st.param", "ld.const"};

bool begins_with_one_of(std::string_view line, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return line.starts_with(name); });
}

// The instruction of a line, without blanks and the predicate before it.
std::string_view instruction_of(std::string_view line) {
  const auto skip = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
  };
  skip();
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
    skip();
  }
  return line;
}

bool waits_first(std::string_view body) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = instruction_of(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
    if (line.starts_with(kWait)) return true;
    if (begins_with_one_of(line, kTouching) && !begins_with_one_of(line, kOwn)) return false;
  }
  return true;  // it touches none
}

}  // namespace

bool waits_before_memory(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry ";
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;) {
    const std::size_t begin = std::min(ptx.find('{', at), ptx.size());
    const std::size_t next = ptx.find(kEntry, begin);
    if (!waits_first(ptx.substr(begin, next == std::string_view::npos ? next : next - begin))) {
      return false;
    }
    at = next;
  }
  return true;
}

}  // namespace attune::cuda
