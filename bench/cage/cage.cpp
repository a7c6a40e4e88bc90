// What the cage around kernels costs, and whether it changes what is measured inside.
//
//   start      from fork to a closed cage that answers, beside a bare fork
//   ratio      one kernel in a cage and out of it, in turns: the median of the ratios of its times,
//              with a 95 % interval
//   unharmed   with HOSTILE: the same kernel in batches behind hostile ones and alone, in turns
//
// usage: bench_cage [SPEC] [PAIRS] [THREADS] [HOSTILE.so]
// HOSTILE.so is that of the tests, build/release/test_kernels/probe_test/hostile.so.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/cage/host_calls.h"
#include "base/clock.h"
#include "bench/arguments.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "runtime/execution/device.h"
#include "targets/cpu/device/device.h"
#include "targets/cpu/tuning/probe_request.h"
#include "targets/kinds.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/measure/probe/runner.h"
#include "tuner/tunings/tunings.h"

namespace attune {
namespace {

constexpr CageRules kRules{.calls = kHostCalls};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

// From fork until the child has said a word, from within a cage or without one.
double start_ms(bool caged) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const SteadyClock clock;
  const pid_t parent = getpid();
  const std::int64_t start = clock.now_ns();
  const pid_t child = fork();
  if (child == 0) {
    if (caged) {
      begin_own_group(parent);
      if (!enter_cage(kRules, {.memory_bytes = std::int64_t{1} << 30}).ok()) _exit(1);
    }
    (void)!write(ends[1], "x", 1);
    _exit(0);
  }
  char said = 0;
  const bool answered = read(ends[0], &said, 1) == 1;
  const double milliseconds = seconds_between(start, clock.now_ns()) * 1e3;
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return answered ? milliseconds : NAN;
}

void print_start() {
  constexpr int kStarts = 101;
  std::vector<double> bare, caged;
  for (int i = 0; i < kStarts; ++i) {
    bare.push_back(start_ms(false));
    caged.push_back(start_ms(true));
  }
  fmt::print("start     bare fork {:.3f} ms, caged {:.3f} ms (medians of {})\n", median(bare),
             median(caged), kStarts);
}

// Median and the ranks that hold it with 95 % (binomial, by its normal approximation).
void print_ratio(const char* name, std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = std::min(ratios.size() - 1, static_cast<std::size_t>(std::ceil(n / 2 + reach)));
  fmt::print("{:<9} median {:.4f}, 95 % interval {:.4f} to {:.4f} ({} pairs)\n", name,
             median(ratios), ratios[low], ratios[high], ratios.size());
}

Result<probe::Candidate> build(const std::string& spec, const target::Target& target) {
  ATTUNE_ASSIGN(const op_spec::OpTask op, op_spec::parse_op_spec(spec, target));
  const auto program = std::make_shared<const ir::Program>(op.program);
  builder::LocalBuilder builder({.target = target, .cores = {}});
  const measure::BuildRequest request{
      .candidate = {.trace = tunings::default_trace(*program, target)}, .program = program};
  const auto built = builder.build({&request, 1});
  if (built.front().main == nullptr) return invalid("the kernel does not build");
  return cpu::probe_request(built.front(), 1, false);
}

// The time of the candidate at the end of a batch.
Result<double> time_us(probe::Runner& runner, std::vector<probe::Candidate> batch) {
  const probe::MeasureOptions options{
      .repeat_us = 200, .budget_us = 100'000, .timeout_ms = 5'000, .remeasure_on_drift = false};
  ATTUNE_ASSIGN(const probe::Batch measured, runner.measure(batch, options));
  const outcome::Outcome& last = measured.candidates.back().outcome;
  if (const auto* timing = std::get_if<outcome::Timing>(&last)) return timing->best_us;
  return invalid(outcome::describe(last));
}

using Timing = std::function<Result<double>()>;

// first() / second() in turns, to and fro.
Result<std::vector<double>> ratios(int pairs, const Timing& first, const Timing& second) {
  std::vector<double> found;
  for (int i = 0; i < pairs; ++i) {
    double a = 0, b = 0;
    if (i % 2 == 0) {
      ATTUNE_ASSIGN(a, first());
      ATTUNE_ASSIGN(b, second());
    } else {
      ATTUNE_ASSIGN(b, second());
      ATTUNE_ASSIGN(a, first());
    }
    found.push_back(a / b);
  }
  return found;
}

std::vector<probe::Candidate> hostile_kernels(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto object = std::make_shared<std::vector<std::byte>>(text.size());
  std::transform(text.begin(), text.end(), object->begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  std::vector<probe::Candidate> all;
  for (const char* symbol : {"fork_and_stay", "shrink_shared_memory", "close_everything",
                             "unmap_everything", "forge_and_leave", "move_away"}) {
    all.push_back({.object = object,
                   .symbol = symbol,
                   .buffers = {{.elements = 1024},
                               {.elements = 1024},
                               {.elements = 1024, .role = probe::Role::Output}}});
  }
  return all;
}

Status run(const std::string& spec, int pairs, int threads, const char* hostile) {
  print_start();
  target::Target wanted;
  wanted.threads = threads;
  ATTUNE_ASSIGN(const target::Target target, targets::resolve(wanted));
  const std::vector<int> cores = tunings::plan_cores(target).measure;
  const runtime::DeviceKind* device = &cpu::device_kind;
  ATTUNE_ASSIGN(probe::Runner caged,
                probe::Runner::start({.device = device, .cores = cores, .cage = &kRules}));
  ATTUNE_ASSIGN(probe::Runner bare, probe::Runner::start({.device = device, .cores = cores}));
  ATTUNE_ASSIGN(const probe::Candidate kernel, build(spec, target));
  const Timing in_cage = [&] { return time_us(caged, {kernel}); };
  ATTUNE_ASSIGN(const auto found, ratios(pairs, in_cage, [&] { return time_us(bare, {kernel}); }));
  print_ratio("ratio", found);
  if (hostile == nullptr) return {};
  std::vector<probe::Candidate> batch = hostile_kernels(hostile);
  batch.push_back(kernel);
  ATTUNE_ASSIGN(const auto behind, ratios(
                                       pairs, [&] { return time_us(caged, batch); }, in_cage));
  print_ratio("unharmed", behind);
  return {};
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  const attune::Arguments words{argc, argv};
  return attune::exit_status(attune::run(words.text(1, "matmul:m=256,n=256,k=256"),
                                         words.number(2, 60), words.number(3, 1),
                                         words.text(4, nullptr)));
}
