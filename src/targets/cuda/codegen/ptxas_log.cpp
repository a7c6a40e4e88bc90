#include "targets/cuda/codegen/ptxas_log.h"

#include <algorithm>
#include <charconv>

namespace attune::cuda {
namespace {

// The number that stands before a word; -1 where there is none.
std::int64_t number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == std::string_view::npos) return -1;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t number = -1;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

// What ptxas says where it cannot let instructions of warpgroups run beside each other.
constexpr std::string_view kSerialised[] = {"(C7510)", "(C7511)", "(C7515)"};

}  // namespace

PtxasFacts parse_ptxas_log(std::string_view log) {
  PtxasFacts facts;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    facts.registers = std::max(facts.registers, number_before(line, " registers"));
    facts.stack_bytes = std::max(facts.stack_bytes, number_before(line, " bytes stack frame"));
    for (const std::string_view code : kSerialised) {
      const std::size_t at = line.find(code);
      if (at != std::string_view::npos && facts.serialised.empty())
        facts.serialised = line.substr(at);
    }
    for (const char* words : {" bytes spill stores", " bytes spill loads"}) {
      facts.spill_bytes += std::max<std::int64_t>(0, number_before(line, words));
    }
  }
  return facts;
}

}  // namespace attune::cuda
