#include "app/api/bench.h"

#include <nlohmann/json.hpp>

#include "app/api/executable.h"
#include "app/api/isolated.h"
#include "runtime/affinity.h"
#include "tuner/measure/probe/machine.h"

namespace attune::api {
namespace {

// The same in a child: should the kernel crash, only that ends.
Result<Samples> sample_isolated(const OperatorModel& model, const measure::BuiltCandidate& built,
                                const BenchOptions& options) {
  const auto work = [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(Executable executable, Executable::load(model, built));
    executable.fill_inputs(options.seed);
    ATTUNE_RETURN_IF_ERROR(executable.start_threads());
    ATTUNE_RETURN_IF_ERROR(executable.prepare());
    ATTUNE_ASSIGN(const Samples samples,
                  sample([&] { return executable.run(); },
                         {.repeats = options.repeats, .seconds = options.seconds}));
    Bytes bytes;
    append_value(bytes, samples.calls);
    for (const double us : samples.call_us) append_value(bytes, us);
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated(model.task.spec, work));
  std::span<const char> bytes = answer;
  Samples samples;
  samples.calls = take_value<std::int64_t>(bytes);
  while (!bytes.empty()) samples.call_us.push_back(take_value<double>(bytes));
  return samples;
}

}  // namespace

Result<double> quick_peak_gflops(int threads) {
  probe::PeakOptions options;
  options.cores = runtime::allowed_cores();
  options.cores.resize(static_cast<std::size_t>(threads));
  options.seconds = 0.05;
  options.triad_bytes = std::int64_t{1} << 20;  // the bandwidth is not asked for
  ATTUNE_ASSIGN(const probe::Peaks peaks, probe::measure_peaks(options));
  return peaks.peak_gflops_all;
}

Result<BenchReport> bench(const BenchOptions& options) {
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Run));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, options.schedule));
  ATTUNE_ASSIGN(const measure::BuiltCandidate built, build_schedule(model, known));
  BenchReport report{.model = model.task.spec,
                     .key = model.task.key,
                     .target = model.target_text(),
                     .threads = model.target.threads,
                     .schedule = known.source,
                     .schedule_text = describe(known),
                     .trace = schedule::to_string(known.trace)};
  if (options.measure_peak) {
    ATTUNE_ASSIGN(report.peak_gflops, quick_peak_gflops(report.threads));
  }
  ATTUNE_ASSIGN(Samples samples, sample_isolated(model, built, options));
  report.calls = samples.calls;
  report.latency = summarize(std::move(samples.call_us));
  report.gflops = model.task.flops / (report.latency.min_ms * 1e6);
  return report;
}

std::string to_json(const BenchReport& report) {
  nlohmann::ordered_json json;
  json["model"] = report.model;
  json["key"] = report.key;
  json["latency_ms"] = {{"min", report.latency.min_ms},
                        {"median", report.latency.median_ms},
                        {"p90", report.latency.p90_ms},
                        {"p99", report.latency.p99_ms}};
  json["gflops"] = report.gflops;
  if (report.peak_gflops > 0) {
    json["peak_gflops"] = report.peak_gflops;
    json["percent_of_peak"] = report.percent_of_peak();
  }
  json["threads"] = report.threads;
  json["target"] = report.target;
  json["schedule"] = name_of(report.schedule);
  json["trace"] = report.trace;
  json["calls"] = report.calls;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::api
