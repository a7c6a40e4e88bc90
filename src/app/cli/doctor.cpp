#include "app/verbs/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string size_text(std::int64_t bytes) {
  if (bytes <= 0) return "unknown";
  if (bytes >= std::int64_t{1} << 30) return fmt::format("{:.1f} GiB", double(bytes) / (1 << 30));
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

void add_machine(const verbs::DoctorReport& r,
                 const std::function<void(std::string_view, const std::string&)>& row) {
  const target::Machine& m = r.machine;
  row("a core",
      fmt::format("{:.2g} GHz; in a cycle {:.3g} instructions, of them {:.3g} multiply-adds "
                  "(at most {:.0f} bytes, results after {:.3g} cycles), {:.3g} loads "
                  "(at most {:.0f} bytes) and stores of {:.0f} bytes; sees {:.0f} "
                  "instructions ahead",
                  m.ghz, m.issue_per_cycle, m.fmas_per_cycle, m.fma_bytes_per_cycle, m.fma_latency,
                  m.loads_per_cycle, m.load_bytes_per_cycle, m.store_bytes_per_cycle,
                  m.reorder_window));
  row("reads",
      fmt::format(
          "L2 {:.0f}, L3 {:.0f}, memory {:.0f} GB/s on one core, a line of it after {:.0f} ns",
          m.l2_bandwidth * m.ghz, m.l3_bandwidth * m.ghz, m.dram_bandwidth * m.ghz,
          m.dram_latency_ns));
  if (r.cores > 1 && m.cores > 0) {
    row("all cores",
        fmt::format(
            "compute {:.2g}, read L3 {:.2g} and memory {:.2g} times as fast as "
            "one; what one writes and another reads moves at {:.2g} GB/s, starting them takes "
            "{:.2g} us",
            m.compute_sharing, m.l3_sharing, m.dram_sharing, m.exchange_bandwidth * m.ghz,
            m.fork_join_us));
  }
  if (!r.machine_failure.empty()) {
    row("", fmt::format("{}; schedules are chosen by {}", r.machine_failure,
                        m.cores > 0 ? "what was measured before" : "what its name says"));
  }
}

std::string page_of(const verbs::DoctorReport& r) {
  const auto found = [](bool there) { return there ? "found" : "not found"; };
  std::string page;
  const auto row = [&](std::string_view name, const std::string& text) {
    page += fmt::format("{:<12} {}\n", name, text);
  };
  std::string cores = fmt::format("{} {}", r.cores, r.cores == 1 ? "core" : "cores");
  if (r.usable_cores < r.cores) cores += fmt::format(", with time for {}", r.usable_cores);
  row("cpu", fmt::format("{}, {}", r.cpu, cores));  // fixed word: a row of the page
  row("vectors", fmt::format("{} bits used ({})", r.vector_bits, fmt::join(r.vector_units, ", ")));
  row("caches", fmt::format("L1 {}, L2 {}, L3 {}", size_text(r.l1_data_bytes),
                            size_text(r.l2_bytes), size_text(r.l3_bytes)));
  row("memory", size_text(r.memory_bytes));
  row("peak", fmt::format("{:.1f} GFLOP/s on one core, {:.1f} on all (f32, measured)",
                          r.peak_gflops_1, r.peak_gflops_all));
  row("bandwidth", fmt::format("{:.1f} GB/s on one core, {:.1f} on all (triad, measured)",
                               r.triad_gbps_1, r.triad_gbps_all));
  add_machine(r, row);
  row("target", r.target);
  row("llvm", r.llvm);
  for (const verbs::DevicesHere& here : r.devices_here) {
    row(here.kind, here.lines.empty() ? "none: " + here.why_none : here.lines.front());
    for (std::size_t i = 1; i < here.lines.size(); ++i) row("", here.lines[i]);
  }
  for (const verbs::LibraryHere& library : r.libraries) {
    const bool is_said =
        std::any_of(r.devices_here.begin(), r.devices_here.end(),
                    [&](const verbs::DevicesHere& here) { return here.kind == library.name; });
    if (!is_said) row(library.name, found(library.found));
  }
  const std::string isolation = r.isolated_runner ? "kernels run in processes of their own"
                                                  : "no isolation: " + r.isolation_failure;
  row("sandbox", fmt::format("{}, {}; bubblewrap {}", isolation,
                             r.missing_cage_parts.empty()
                                 ? std::string("in a cage")
                                 : fmt::format("but {}", fmt::join(r.missing_cage_parts, ", ")),
                             found(r.bubblewrap)));
  return page;
}

}  // namespace

Result<int> run_doctor(Words arguments, Console& console) {
  CommandLine line("doctor", "Says what this machine has, and measures how fast it is.");
  Speech speech;
  std::optional<double> seconds;
  verbs::DoctorOptions options;
  line.real("--seconds", "S", seconds, 0.01, 60, "measure each figure for S seconds (0.25)");
  add_speech_options(line, speech, "print one JSON document");
  line.example("doctor", "a page about this machine");
  line.example("doctor --json --seconds 1", "measured longer, as JSON");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.seconds = seconds.value_or(options.seconds);
    ATTUNE_ASSIGN(const verbs::DoctorReport report, verbs::doctor(options));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    return 0;
  });
}

}  // namespace attune::cli
