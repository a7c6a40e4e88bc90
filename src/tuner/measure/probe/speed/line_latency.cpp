#include "tuner/measure/probe/speed/line_latency.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "tuner/measure/probe/speed/memory_loop.h"

namespace attune::probe {
namespace {

constexpr std::int64_t kLines = 4096, kLineBytes = 64;

// Each of the lines holds the address of the next; their order is random, so that no hardware
// foresees it.
char* chain_lines(char* data, std::int64_t bytes) {
  Rng rng(1);
  const std::int64_t apart = bytes / kLines;
  std::vector<char*> lines;
  for (std::int64_t i = 0; i < kLines; ++i) {
    const auto within = static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(apart));
    lines.push_back(data + i * apart + within / kLineBytes * kLineBytes);
  }
  for (std::size_t i = lines.size() - 1; i > 0; --i) {
    std::swap(lines[i], lines[rng.next() % (i + 1)]);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    *reinterpret_cast<char**>(lines[i]) = lines[(i + 1) % lines.size()];
  }
  return lines.front();
}

}  // namespace

double line_latency_ns(char* data, std::int64_t bytes) {
  constexpr int kPasses = 3;
  const SteadyClock clock;
  char* const first = chain_lines(data, bytes / 4);
  double least = std::numeric_limits<double>::max();
  for (int pass = 0; pass < kPasses; ++pass) {
    vector_reads()(data, bytes / kRoundBytes * kRoundBytes, bytes / kRoundBytes);  // out of caches
    const std::int64_t start = clock.now_ns();
    char* line = first;
    for (std::int64_t i = 0; i < kLines; ++i) {
      line = *reinterpret_cast<char**>(line);
      asm volatile("" : "+r"(line));
    }
    least = std::min(least, static_cast<double>(clock.now_ns() - start));
  }
  return least / static_cast<double>(kLines);
}

}  // namespace attune::probe
