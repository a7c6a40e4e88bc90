#include "app/verbs/doctor.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/cage/host_calls.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "base/version.h"
#include "compiler/kernel/kernel.h"
#include "runtime/execution/usable_cores.h"
#include "targets/kinds.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/measure/probe/runner.h"

namespace attune::verbs {
namespace {

bool can_open(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/usr/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    directory += "/" + program;
    if (::access(directory.c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Whether a measuring child can be started and answers.
Status try_runner() {
  ATTUNE_ASSIGN(probe::Runner runner, probe::Runner::start());
  ATTUNE_ASSIGN(const probe::SentinelReading reading, runner.sentinel());
  (void)reading;
  return {};
}

// What this system lacks, or refuses when it comes to it.
std::vector<std::string> try_cage() {
  std::vector<std::string> missing = missing_cage_parts();
  const auto tried = run_isolated("a process in a cage", []() -> Result<Bytes> {
    ATTUNE_RETURN_IF_ERROR(enter_cage({.calls = kHostCalls}, {}));
    return Bytes(1);
  });
  if (!tried.ok()) missing.push_back(tried.error().message);
  return missing;
}

std::vector<DevicesHere> look_for_devices() {
  std::vector<DevicesHere> all;
  for (const target::Kind* kind : targets::kinds()) {
    if (kind->devices_here == nullptr) continue;
    DevicesHere here{.kind = std::string(kind->name)};
    auto found = kind->devices_here();
    if (found.ok()) {
      here.lines = std::move(found).value();
    } else {
      here.why_none = found.error().message;
    }
    all.push_back(std::move(here));
  }
  return all;
}

// What the targets and their compilers say that they need, and what one to come would.
std::vector<LibraryHere> look_for_libraries() {
  std::vector<LibraryHere> all;
  for (const target::Kind* kind : targets::kinds()) {
    for (const target::Library& library : kind->libraries) {
      all.push_back({std::string(library.name), library.is_here()});
    }
  }
  for (const codegen::CodeGenerator* generator : kernel::code_generators()) {
    if (generator->library.empty()) continue;
    all.push_back({std::string(generator->library), generator->version() != "none"});
  }
  all.push_back({"opencl", can_open("libOpenCL.so.1")});
  return all;
}

}  // namespace

Result<DoctorReport> doctor(const DoctorOptions& options) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  DoctorReport report;
  const Status isolated = try_runner();
  report.isolated_runner = isolated.ok();
  if (!isolated.ok()) report.isolation_failure = isolated.error().message;
  report.missing_cage_parts = try_cage();

  const probe::MachineFacts machine = probe::describe_machine();
  ATTUNE_ASSIGN(const target::Target target, targets::this_machine());
  const auto measured = targets::kind_of(target).measure(target);
  report.machine = measured.ok() ? *measured : target.machine;
  if (!measured.ok()) report.machine_failure = measured.error().message;
  ATTUNE_ASSIGN(const probe::Peaks peaks, probe::measure_peaks({.seconds = options.seconds}));
  report.version = version();
  report.cpu = machine.cpu;
  report.cores = static_cast<int>(machine.cores.size());
  report.usable_cores = static_cast<int>(runtime::usable_cores().size());
  report.target = target::to_string(target);
  report.vector_units = machine.vector_units;
  report.vector_bits = target.vector_bytes * 8;
  report.l1_data_bytes = machine.l1_data_bytes;
  report.l2_bytes = machine.l2_bytes;
  report.l3_bytes = machine.l3_bytes;
  report.memory_bytes = machine.memory_bytes;
  report.peak_gflops_1 = peaks.peak_gflops_1;
  report.peak_gflops_all = peaks.peak_gflops_all;
  report.triad_gbps_1 = peaks.triad_gbps_1;
  report.triad_gbps_all = peaks.triad_gbps_all;
  report.llvm = kernel::code_generator_of(target).version();
  report.libraries = look_for_libraries();
  for (const target::Kind* kind : targets::kinds()) report.devices.emplace_back(kind->name);
  report.devices_here = look_for_devices();
  report.bubblewrap = is_installed("bwrap");
  report.seconds = seconds_between(start, clock.now_ns());
  return report;
}

namespace {

nlohmann::ordered_json machine_json(const DoctorReport& report) {
  const target::Machine& m = report.machine;
  nlohmann::ordered_json json{{"ghz", m.ghz},
                              {"issue_per_cycle", m.issue_per_cycle},
                              {"reorder_window", m.reorder_window},
                              {"fmas_per_cycle", m.fmas_per_cycle},
                              {"fma_bytes_per_cycle", m.fma_bytes_per_cycle},
                              {"fma_latency_cycles", m.fma_latency},
                              {"loads_per_cycle", m.loads_per_cycle},
                              {"load_bytes_per_cycle", m.load_bytes_per_cycle},
                              {"store_bytes_per_cycle", m.store_bytes_per_cycle},
                              {"l2_bytes_per_cycle", m.l2_bandwidth},
                              {"l3_bytes_per_cycle", m.l3_bandwidth},
                              {"dram_bytes_per_cycle", m.dram_bandwidth},
                              {"dram_latency_ns", m.dram_latency_ns},
                              {"exchange_bytes_per_cycle", m.exchange_bandwidth},
                              {"compute_sharing", m.compute_sharing},
                              {"l3_sharing", m.l3_sharing},
                              {"dram_sharing", m.dram_sharing},
                              {"fork_join_us", m.fork_join_us},
                              {"measured", m.cores > 0}};
  if (!report.machine_failure.empty()) json["failure"] = report.machine_failure;
  return json;
}

}  // namespace

std::string to_json(const DoctorReport& report) {
  nlohmann::ordered_json json;
  json["peak_gflops_1"] = report.peak_gflops_1;
  json["peak_gflops_all"] = report.peak_gflops_all;
  json["triad_gbps_1"] = report.triad_gbps_1;
  json["triad_gbps_all"] = report.triad_gbps_all;
  json["machine"] = machine_json(report);
  json["cpu"] = report.cpu;  // fixed word: a field
  json["cores"] = report.cores;
  json["usable_cores"] = report.usable_cores;
  json["devices"] = report.devices;
  json["devices_here"] = nlohmann::ordered_json::object();
  for (const DevicesHere& here : report.devices_here) {
    json["devices_here"][here.kind] = {{"devices", here.lines}};
    if (!here.why_none.empty()) json["devices_here"][here.kind]["why_none"] = here.why_none;
  }
  json["target"] = report.target;
  json["vector_units"] = report.vector_units;
  json["vector_bits"] = report.vector_bits;
  json["l1_data_bytes"] = report.l1_data_bytes;
  json["l2_bytes"] = report.l2_bytes;
  json["l3_bytes"] = report.l3_bytes;
  json["memory_bytes"] = report.memory_bytes;
  json["llvm"] = report.llvm;
  json["libraries"] = nlohmann::ordered_json::object();
  for (const LibraryHere& library : report.libraries) {
    json["libraries"][library.name] = library.found;
  }
  json["sandbox"] = {{"isolated_runner", report.isolated_runner},
                     {"caged", report.missing_cage_parts.empty()},
                     {"missing", report.missing_cage_parts},
                     {"bubblewrap", report.bubblewrap}};
  json["version"] = report.version;
  json["seconds"] = report.seconds;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs
