#include "runtime/execution/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace attune::runtime {
namespace {

// Room for more cores than the 1,024 of a plain cpu_set_t.
constexpr int kMaxCores = 8192;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

CpuSet empty_set() {
  CpuSet set(CPU_ALLOC(kMaxCores));
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMaxCores), set.get());
  return set;
}

}  // namespace

std::vector<int> allowed_cores() {
  const std::size_t size = CPU_ALLOC_SIZE(kMaxCores);
  const CpuSet set = empty_set();
  std::vector<int> cores;
  if (sched_getaffinity(0, size, set.get()) == 0) {
    for (std::size_t core = 0; core < kMaxCores; ++core) {
      if (CPU_ISSET_S(core, size, set.get())) cores.push_back(static_cast<int>(core));
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

Status pin_current_thread(std::span<const int> cores) {
  const std::size_t size = CPU_ALLOC_SIZE(kMaxCores);
  const CpuSet set = empty_set();
  std::string names;
  for (int core : cores) {
    if (core < 0 || core >= kMaxCores)
      return invalid("core " + std::to_string(core) + " does not exist");
    CPU_SET_S(static_cast<std::size_t>(core), size, set.get());
    names += (names.empty() ? "" : ",") + std::to_string(core);
  }
  if (sched_setaffinity(0, size, set.get()) != 0) {
    return Error{ErrorCode::InvalidArgument,
                 "cannot pin to core " + names + ": " + std::strerror(errno),
                 "choose among the cores that `taskset -p $$` shows"};
  }
  return {};
}

Status pin_current_thread(int core) { return pin_current_thread(std::span<const int>(&core, 1)); }

}  // namespace attune::runtime
