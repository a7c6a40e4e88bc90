#include "targets/cpu/facts/machine_here.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/text_file.h"
#include "runtime/execution/usable_cores.h"
#include "targets/cpu/facts/facts.h"
#include "targets/cpu/facts/known_machines.h"
#include "targets/cpu/facts/machine_file.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/measure/probe/speed/speed.h"

namespace attune::cpu {
namespace {

namespace fs = std::filesystem;

target::Machine stated(const target::Target& target) {
  const std::string_view triple = target.attribute(kTriple);
  return known_machine(triple.substr(0, triple.find('-')), target.attribute(kCpu));
}

// What tells machines apart that share a home, and targets of one machine.
std::string identity_of(const target::Target& target) {
  const probe::MachineFacts facts = probe::describe_machine();
  const double gib = std::round(static_cast<double>(facts.memory_bytes) / (1 << 30));
  return fmt::format(
      "{} ({}), {} processors, {:.0f} GiB, vectors of {} bytes, caches of {}, {} and {} bytes",
      facts.cpu, target.attribute(kCpu), facts.processors, gib, target.vector_bytes,
      target.l1_bytes, target.l2_bytes, target.l3_bytes);
}

// A file for each of them. Nothing where there is no place for it.
std::optional<fs::path> remembered_in(const std::string& identity) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path file = fs::path("attune") / fmt::format("machine-{}", hex64(hash_bytes(identity)));
  if (cache != nullptr && fs::path(cache).is_absolute()) return cache / file;
  if (home == nullptr || *home == '\0') return std::nullopt;
  return fs::path(home) / ".cache" / file;
}

// Two measurements of the same machine should lead to the same schedules.
double steady(double value, double step) { return std::max(step, std::round(value / step) * step); }
double steady(double value) {
  if (value <= 0) return 0;
  const double step = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / step) * step;
}

target::Machine machine_of(const probe::Speed& speed, int cores, const target::Machine& stated) {
  constexpr double kStep = 0.25;
  const double cycles = speed.core.cycles;
  const auto shared = [](double all, double one) { return one > 0 ? steady(all / one) : 1; };
  target::Machine machine = stated;
  machine.ghz = steady(cycles);
  machine.fmas_per_cycle = steady(speed.core.fma_vectors / cycles, kStep);
  machine.fma_bytes_per_cycle = steady(speed.core.fma_bytes / cycles, 8);
  machine.fma_latency = steady(cycles / speed.core.chained_fmas, 1);
  machine.loads_per_cycle = steady(speed.core.broadcasts / cycles, kStep);
  machine.load_bytes_per_cycle = steady(speed.core.load_bytes / cycles, 8);
  machine.store_bytes_per_cycle = steady(speed.core.store_bytes / cycles, 4);
  machine.l2_bandwidth = steady(speed.one.l2 / cycles);
  machine.l3_bandwidth = steady(speed.one.l3 / cycles);
  machine.dram_bandwidth = steady(speed.one.dram / cycles);
  machine.dram_latency_ns = steady(speed.dram_latency_ns);
  machine.exchange_bandwidth = steady(speed.exchange / cycles);
  machine.compute_sharing = shared(speed.fma_bytes_all, speed.core.fma_bytes);
  machine.l3_sharing = shared(speed.all.l3, speed.one.l3);
  machine.dram_sharing = shared(speed.all.dram, speed.one.dram);
  machine.fork_join_us = steady(speed.fork_join_us);
  machine.cores = cores;
  return machine;
}

std::optional<target::Machine> remembered(const std::string& identity, int cores,
                                          const target::Machine& stated) {
  const auto path = remembered_in(identity);
  if (!path) return std::nullopt;
  const auto text = read_text_file(path->string(), kLargestSettingBytes);
  if (!text.ok()) return std::nullopt;
  const auto machine = parse_machine(*text, identity, stated);
  if (!machine || machine->cores < cores) return std::nullopt;
  return machine;
}

// Where it cannot be written, the next one measures again.
void remember(const target::Machine& machine, const std::string& identity) {
  const auto path = remembered_in(identity);
  if (!path) return;
  std::error_code ignored;
  fs::create_directories(path->parent_path(), ignored);
  (void)write_file_atomically(path->string(), machine_text(machine, identity));
}

// How much others wanted the cores; above 1 they were not this process's own. Who shares one with
// another program loses it every few milliseconds, 100 or more times in a second; what a quiet
// system does now and then is not that. The host of a virtual machine takes a core unasked.
double crowd_of(const probe::Speed& speed) {
  constexpr double kPreemptions = 50, kStolen = 0.01;
  return std::max(speed.preemptions / kPreemptions, speed.stolen / kStolen);
}
bool is_crowded(const probe::Speed& speed) { return crowd_of(speed) > 1; }

// The first of a few that nobody disturbed, else the one that was disturbed least.
Result<probe::Speed> least_disturbed(const MeasureSpeed& measure) {
  constexpr int kTries = 3;
  ATTUNE_ASSIGN(probe::Speed best, measure());
  for (int i = 1; i < kTries && is_crowded(best); ++i) {
    ATTUNE_ASSIGN(const probe::Speed again, measure());
    if (crowd_of(again) < crowd_of(best)) best = again;
  }
  return best;
}

}  // namespace

Result<target::Machine> measure_machine(const target::Target& target) {
  return measure_machine(target, [&] {
    return probe::measure_speed({.cores = runtime::usable_cores(),
                                 .l1_bytes = target.l1_bytes,
                                 .l2_bytes = target.l2_bytes,
                                 .l3_bytes = target.l3_bytes});
  });
}

Result<target::Machine> measure_machine(const target::Target& target, const MeasureSpeed& measure) {
  ATTUNE_ASSIGN(const probe::Speed speed, least_disturbed(measure));
  const int cores = static_cast<int>(runtime::usable_cores().size());
  const target::Machine usual = stated(target);
  const auto machine = mended(machine_of(speed, cores, usual), usual);
  if (!machine) {
    return Error{ErrorCode::Unsupported, "what was measured of this machine makes no sense",
                 "other programs may have its cores; measure again when it is quiet"};
  }
  if (!is_crowded(speed)) remember(*machine, identity_of(target));
  return *machine;
}

target::Machine machine_here(const target::Target& target) {
  const char* wish = std::getenv("ATTUNE_MACHINE");
  if (wish != nullptr && std::string_view(wish) == "stated") return stated(target);
  struct Known {
    int cores = 0;  // that it was asked for
    target::Machine machine;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> known;  // by identity
  const std::string identity = identity_of(target);
  const int cores = static_cast<int>(runtime::usable_cores().size());
  const std::lock_guard lock(mutex);
  Known& here = known[identity];
  if (here.cores < cores) {
    const target::Machine usual = stated(target);
    std::optional<target::Machine> machine = remembered(identity, cores, usual);
    if (!machine) {
      const auto measured = measure_machine(target);
      machine = measured.ok() ? *measured : usual;
    }
    here = {cores, *machine};
  }
  return here.machine;
}

}  // namespace attune::cpu
