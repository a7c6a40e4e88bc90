// Timing an operator in this process, call by call, as a program that uses it would.
#pragma once

#include <cstdint>
#include <string>

#include "app/api/known_schedule.h"
#include "app/api/model.h"
#include "app/api/sampling.h"
#include "base/result.h"

namespace attune::api {

struct BenchOptions {
  ModelOptions model = {};
  ScheduleOptions schedule = {};
  std::int64_t repeats = 0;  // timed samples; 0: as many as fit into `seconds`
  double seconds = 1.0;
  std::uint64_t seed = 0;
  bool measure_peak = true;
};

struct BenchReport {
  std::string model = {};  // canonical
  std::string key = {};
  std::string target = {};
  int threads = 1;
  ScheduleSource schedule = ScheduleSource::Default;
  std::string schedule_text = {};  // of where it comes from, for a person
  std::string trace = {};
  Latency latency = {};
  double gflops = 0;       // of the fastest call
  double peak_gflops = 0;  // of as many cores, measured just before; 0: not measured
  std::int64_t calls = 0;  // timed ones
  double percent_of_peak() const { return peak_gflops > 0 ? 100 * gflops / peak_gflops : 0; }
};

Result<BenchReport> bench(const BenchOptions& options);
std::string to_json(const BenchReport& report);

// The FMA peak of so many cores in GFLOP/s, measured in well under half a second.
Result<double> quick_peak_gflops(int threads);

}  // namespace attune::api
