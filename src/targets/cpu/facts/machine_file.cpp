#include "targets/cpu/facts/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/hash.h"

namespace attune::cpu {
namespace {

constexpr std::string_view kFirstLine =
    "# How fast this machine is, as measured by 'attune doctor'. Delete it to have it measured "
    "again.\n";

struct Field {
  std::string_view name;
  double target::Machine::*value;
};

constexpr Field kFields[] = {
    {"ghz", &target::Machine::ghz},
    {"fmas_per_cycle", &target::Machine::fmas_per_cycle},
    {"fma_bytes_per_cycle", &target::Machine::fma_bytes_per_cycle},
    {"fma_latency", &target::Machine::fma_latency},
    {"loads_per_cycle", &target::Machine::loads_per_cycle},
    {"load_bytes_per_cycle", &target::Machine::load_bytes_per_cycle},
    {"store_bytes_per_cycle", &target::Machine::store_bytes_per_cycle},
    {"l2_bandwidth", &target::Machine::l2_bandwidth},
    {"l3_bandwidth", &target::Machine::l3_bandwidth},
    {"dram_bandwidth", &target::Machine::dram_bandwidth},
    {"dram_latency_ns", &target::Machine::dram_latency_ns},
    {"exchange_forth_and_back", &target::Machine::exchange_bandwidth},
    {"compute_sharing", &target::Machine::compute_sharing},
    {"l3_sharing", &target::Machine::l3_sharing},
    {"dram_sharing", &target::Machine::dram_sharing},
    {"fork_join_us", &target::Machine::fork_join_us},
};

std::string seal_of(std::string_view text) {
  return fmt::format("seal {:016x}\n", hash_bytes(text));
}

bool within(double value, double least, double most) { return value >= least && value <= most; }

}  // namespace

std::string machine_text(const target::Machine& machine, std::string_view identity) {
  std::string text = fmt::format("{}machine {}\ncores {}\n", kFirstLine, identity, machine.cores);
  for (const Field& field : kFields) {
    text += fmt::format("{} {:.4g}\n", field.name, machine.*field.value);
  }
  return text + seal_of(text);
}

std::optional<target::Machine> parse_machine(std::string_view text, std::string_view identity,
                                             const target::Machine& stated) {
  const std::size_t seal = text.rfind("seal ");
  if (seal == std::string_view::npos || text.substr(seal) != seal_of(text.substr(0, seal))) {
    return std::nullopt;
  }
  const std::string head = fmt::format("{}machine {}\n", kFirstLine, identity);
  if (!text.starts_with(head)) return std::nullopt;
  std::istringstream lines{std::string(text.substr(head.size(), seal - head.size()))};
  target::Machine machine = stated;
  std::string name;
  if (!(lines >> name >> machine.cores) || name != "cores" || machine.cores < 1)
    return std::nullopt;
  for (const Field& field : kFields) {
    if (!(lines >> name >> machine.*field.value) || name != field.name) return std::nullopt;
  }
  return mended(machine, stated);
}

std::optional<target::Machine> mended(const target::Machine& measured,
                                      const target::Machine& stated) {
  using Machine = target::Machine;
  Machine m = measured;
  const bool counts = within(m.ghz, 0.2, 10) && within(m.fmas_per_cycle, 0.4, 8) &&
                      within(m.fma_bytes_per_cycle, 4, 512);
  if (!counts) return std::nullopt;
  const auto mend = [&](double Machine::*figure, double least, double most) {
    if (!within(m.*figure, least, most)) m.*figure = stated.*figure;
  };
  mend(&Machine::fma_latency, 1, 30);
  mend(&Machine::loads_per_cycle, 0.5, 8);
  mend(&Machine::load_bytes_per_cycle, 4, 512);
  mend(&Machine::store_bytes_per_cycle, 2, 1.5 * m.load_bytes_per_cycle);
  mend(&Machine::l2_bandwidth, 1, 1.1 * m.load_bytes_per_cycle);
  mend(&Machine::l3_bandwidth, 0.5, 1.5 * m.l2_bandwidth);
  mend(&Machine::dram_bandwidth, 0.1, 1.5 * m.l3_bandwidth);
  mend(&Machine::dram_latency_ns, 20, 1000);
  mend(&Machine::exchange_bandwidth, 0.02, 1.5 * m.l2_bandwidth);
  mend(&Machine::fork_join_us, 0, 1000);
  // All cores do no more than each by itself, but for what disturbed the one.
  const auto mend_sharing = [&](double Machine::*figure, double least) {
    if (within(m.*figure, least, 1.25 * m.cores)) return;
    m.*figure = std::min<double>(stated.*figure, m.cores);
  };
  mend_sharing(&Machine::compute_sharing, 0.9);
  mend_sharing(&Machine::l3_sharing, 0.5);
  mend_sharing(&Machine::dram_sharing, 0.5);
  return m;
}

}  // namespace attune::cpu
