// How many trials a second a tuning run makes, end to end, and where the time goes.
// usage: bench_trials SPEC [TRIALS] [THREADS] [SEED]
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>

#include "bench/arguments.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/session/explorer_search.h"
#include "tuner/session/run_local.h"
#include "tuner/tunings/tunings.h"

namespace attune {
namespace {

class Printer final : public session::Observer {
 public:
  void progressed(const session::Progress& progress) override {
    fmt::print(stderr, "{:6.2f} s  {:8} round {:3}  {:4} trials  best {:.1f} us, {:.1f} GFLOP/s\n",
               progress.elapsed_seconds, progress.stage, progress.round, progress.trials,
               progress.best_us.value_or(0), progress.best_gflops);
  }
};

session::Task task_of(const op_spec::OpTask& op) {
  session::Task task{.key = op.key, .name = op.spec, .flops = op.flops, .algorithms = {}};
  task.algorithms.push_back(
      {"direct", std::make_shared<const ir::Program>(op.program), op.tolerance});
  return task;
}

void print_records(records::Store& store, const session::TaskReport& report) {
  const auto stored = store.load_session(report.session);
  if (!stored.ok()) return;
  double build_ms = 0, run_ms = 0;
  std::map<std::string, int> reasons;
  const records::Record* slowest = nullptr;
  for (const auto& candidate : stored->candidates) {
    build_ms += candidate.record->stages.build_ms;
    if (slowest == nullptr || slowest->stages.build_ms < candidate.record->stages.build_ms) {
      slowest = &*candidate.record;
    }
    run_ms += candidate.record->stages.run_ms;
    if (!std::holds_alternative<outcome::Timing>(candidate.record->outcome)) {
      ++reasons[outcome::describe(candidate.record->outcome).substr(0, 100)];
    }
  }
  const auto count = static_cast<double>(stored->candidates.size());
  fmt::print("per candidate: build {:.1f} ms, run {:.1f} ms\n", build_ms / count, run_ms / count);
  fmt::print("slowest build, {:.0f} ms:\n{}", slowest->stages.build_ms, slowest->trace);
  for (const auto& [reason, times] : reasons) fmt::print("{:4} x {}\n", times, reason);
}

Status run(const std::string& spec, int trials, int threads, std::uint64_t seed) {
  target::Target wanted;
  wanted.threads = threads;
  ATTUNE_ASSIGN(const target::Target target, targets::resolve(wanted));
  const tuning::CorePlan cores = tunings::plan_cores(target);
  ATTUNE_ASSIGN(auto runner, tunings::tuning_of(target).start_runner(
                                 {.target = target, .cores = cores.measure}));
  ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(cores.build));
  ATTUNE_ASSIGN(const op_spec::OpTask op, op_spec::parse_op_spec(spec, target));
  const session::Task task = task_of(op);
  builder::LocalBuilder builder({.target = target, .cores = cores.build});

  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("bench_trials.{}.db", getpid()))
          .string();
  ATTUNE_ASSIGN(auto store, records::open_sqlite_store(path));
  ATTUNE_ASSIGN(auto search, session::make_template_search(task, target, {}, seed));
  const SteadyClock clock;
  ATTUNE_ASSIGN(
      auto session,
      session::Session::open({*store, builder, *runner, clock}, task, target::to_string(target),
                             std::move(search), tunings::default_trace(task.reference(), target),
                             {.trials = trials, .seed = seed, .window = cores.overlap ? 2 : 1}));
  Printer printer;
  ATTUNE_RETURN_IF_ERROR(session::run_local(*session, &printer));
  const session::TaskReport report = session->report();
  fmt::print("{}\n{} trials in {:.2f} s: {:.1f} a second; {} failed\n", report.name, report.trials,
             report.seconds, static_cast<double>(report.trials) / report.seconds, report.failed);
  fmt::print("default {:.1f} us, best {:.1f} us, {:.1f} GFLOP/s\n{}", report.default_us.value_or(0),
             report.best_us.value_or(0), report.gflops, report.best_trace);
  print_records(*store, report);
  store.reset();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  return {};
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  const attune::Arguments words{argc, argv};
  return attune::exit_status(attune::run(words.text(1, "matmul:m=512,n=512,k=512"),
                                         words.number(2, 128), words.number(3, 1),
                                         static_cast<std::uint64_t>(words.number(4, 0))));
}
