// Timing a model in a process of its own, call by call, and layer by layer. What a call is depends
// on where it runs: on the host's threads, all that a program that uses the model calls; on a
// device that records whole runs, what the device does, from inputs that are there to outputs that
// are there, with the time of a call that brings both beside it. Tuning compares whole models by
// the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/verbs/sampling.h"
#include "base/result.h"
#include "compiler/model/load/input_files.h"

namespace attune::verbs {

struct BenchOptions {
  model::SourceOptions source = {};
  SamplingOptions sampling = {};
  model::InputFiles files = {};
  std::uint64_t seed = 0;         // of the random inputs
  bool layers = false;            // a profile too
  bool measure_peak = true;       // where kernels are timed, whose speed is compared with it
  double timeout_seconds = 3600;  // of all runs
};

struct LayerRow {
  std::string name = {};    // of the node in the model
  std::string kernel = {};  // or the host operator
  double milliseconds = 0;  // in one run
  double fastest_ms = 0;    // the fastest call of all
  double percent = 0;       // of all layers
  double gflops = 0;        // 0: it has no operations to count
  std::int64_t calls = 0;   // in one run
  double bound_us = 0;      // the least that one call can take on this machine; 0: a host operator

  // The bound as a share of what was measured.
  std::optional<double> percent_of_bound() const {
    if (bound_us <= 0 || milliseconds <= 0) return std::nullopt;
    return 1e-1 * bound_us * static_cast<double>(calls) / milliseconds;
  }
};

// What was timed: a kernel alone, a run on its device, or a call with all that belongs to it.
// "kernel", "device", "call".
enum class Timed { Kernel, Device, Call };
std::string_view name_of(Timed timed);

struct BenchReport {
  std::string model = {};
  std::string target = {};
  int threads = 1;
  std::string precision = {};
  std::string schedule_text = {};                  // of where its schedules come from, for a person
  std::optional<model::KernelSource> kernel = {};  // of a model that is one task
  model::Fallbacks fallbacks = {};                 // of compiling
  Timed timed = Timed::Call;
  Latency latency = {};
  std::optional<Latency> call_latency = {};  // of calls, where a run on its device was timed
  std::int64_t calls = 0;                    // timed ones
  double gflops = 0;                         // of the fastest call
  double peak_gflops = 0;  // of as many cores, measured just before; 0: not measured
  double load_ms = 0, compile_seconds = 0;
  std::int64_t weight_bytes = 0, arena_bytes = 0, session_bytes = 0;
  std::vector<LayerRow> layers = {};  // the slowest first

  double percent_of_peak() const { return peak_gflops > 0 ? 100 * gflops / peak_gflops : 0; }
};

Result<BenchReport> bench(const BenchOptions& options);
std::string to_json(const BenchReport& report);

// The times of `runs` runs as those of one, the slowest layer first.
std::vector<LayerRow> layer_rows(const runtime::Profile& profile, std::int64_t runs);

}  // namespace attune::verbs
