#include "targets/sim/facts/facts.h"

#include <array>
#include <string>

namespace attune::sim {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "multiprocessors", "shared_kb", "warp", "threads_per_block", "register_bytes", "clock_mhz"};

// Its rates as predictions ask for them. A warp's operation takes a cycle, and a multiply-add is
// two; each segment of global memory takes its multiprocessor's time, wherever it lies.
target::LaunchFacts launch_facts(const Machine& machine) {
  const double ghz = static_cast<double>(machine.clock_mhz) * 1e-3;
  const double bytes_per_cycle =
      static_cast<double>(machine.segment_bytes) / static_cast<double>(machine.segment_cycles);
  const double bandwidth = bytes_per_cycle * static_cast<double>(machine.multiprocessors) * ghz;
  return {.multiprocessors = machine.multiprocessors,
          .warp = machine.warp,
          .threads_per_block = machine.threads_per_block,
          .shared_bytes = machine.shared_kb << 10,
          .register_bytes = machine.register_bytes,
          .resident_threads = machine.resident_threads,
          .resident_blocks = machine.resident_blocks,
          .resident_shared_bytes = machine.shared_kb << 11,
          .resident_register_bytes = machine.resident_threads * machine.register_bytes,
          .ghz = ghz,
          .fmas_per_cycle = static_cast<double>(machine.warp) / 2,
          .l2_bandwidth = bandwidth,
          .dram_bandwidth = bandwidth,
          .l2_bytes = std::int64_t{1} << 32,
          .global_latency_ns = static_cast<double>(machine.global_latency) / ghz,
          .barrier_ns = static_cast<double>(machine.barrier_cycles) / ghz,
          .launch_us = static_cast<double>(machine.launch_cycles) * 1e-3 / ghz};
}

Result<target::Target> resolve(const target::Target& target) {
  ATTUNE_ASSIGN(const Machine machine, machine_of(target));
  target::Target resolved = target;
  resolved.threads = 1;
  for (const Attribute& attribute : attributes()) {
    resolved.set(attribute.name, std::to_string(machine.*attribute.field));
  }
  // What schedules for all targets ask for: rows of four numbers are moved at once.
  resolved.vector_bytes = 16;
  // Threads have no vector registers that tiles could spill from; the code generator counts bytes.
  resolved.vector_registers = 1 << 16;
  resolved.l1_bytes = machine.shared_kb << 10;
  resolved.launch = launch_facts(machine);
  resolved.parallel_loops = resolved.fuses_chains = resolved.blocks_are_of_sums = false;
  return resolved;
}

Status runs_everywhere(const target::Target&) { return {}; }

target::Requirements requirements(const target::Target&) {
  return {.architecture = "sim", .own_memory = true};
}

std::string_view processor(const target::Target&) { return "sim"; }

std::string no_autotvm_text(const target::Target&) { return {}; }

}  // namespace

const target::Kind target_kind = {
    .name = "sim",
    .meaning = "a simulated device with blocks, threads and shared memory, whose time is counted",
    .example = "sim -multiprocessors=4 -shared_kb=48",
    .device = "cpu",  // whose cores it is simulated on
    .attributes = kNames,
    .resolve = resolve,
    .check_runs_here = runs_everywhere,
    .requirements = requirements,
    .processor = processor,
    .autotvm_text = no_autotvm_text,
};

Result<Machine> machine_of(const target::Target& target) {
  std::string text;
  for (const auto& [name, value] : target.attributes) text += "-" + name + "=" + value + " ";
  return parse_machine(text);
}

}  // namespace attune::sim
