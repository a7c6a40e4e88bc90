#include "tuner/measure/probe/worker.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/cage/cage.h"
#include "base/clock.h"
#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/crash_watch.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/loaded_candidate.h"
#include "tuner/measure/probe/memory_limit.h"
#include "tuner/measure/probe/sentinel.h"
#include "tuner/measure/probe/timing_loop.h"

namespace attune::probe {
namespace {

using outcome::Phase;

// What the worker itself asks for while foreign code is loaded: it hears and answers the server,
// and moves its soft limit of memory below the hard one.
constexpr CallRule kOwnCalls[] = {
    {.name = "recvmsg"},
    {.name = "sendmsg"},
    {.name = "pread64"},
    {.name = "prlimit64",
     .first = {ArgumentIs::Value, 0, 0},
     .second = {ArgumentIs::Value, 1, RLIMIT_AS}},
};

class Worker {
 public:
  Worker(const RunnerOptions& options, const Descriptor& channel,
         std::unique_ptr<runtime::Device> device)
      : cores_(options.cores), cage_(options.cage), channel_(channel), device_(std::move(device)) {}

  void open(Message message);
  // Before the first candidate: what it could still need is there by then.
  Status enter_cage();

  void measure(std::uint32_t k);
  void interleave();
  void read_sentinel(std::uint32_t after);
  bool answer() const { return send(channel_, MessageKind::Done); }

 private:
  struct Contender {
    std::uint32_t number;
    std::unique_ptr<LoadedCandidate> candidate;
    std::int64_t calls = 1;
    std::vector<double> repeats_us = {};
  };

  const MeasureOptions& options() const { return exchange_->header().options; }
  Report& report(std::uint32_t k) { return exchange_->replies().report(k); }
  Progress& progress() { return exchange_->replies().header().progress; }
  runtime::ThreadPool& pool_for(int threads);
  int sentinel_threads() const;
  void enter(std::uint32_t k, Phase phase);
  // The kernel that comes next is the first of its candidate, or the one after its preparation.
  void announce(std::uint32_t k);
  // Loads, prepares, calls once and notes what came out; the duration of that call, or nothing when
  // the report holds a failure.
  std::optional<double> begin(LoadedCandidate& candidate, std::uint32_t k);
  // Code and buffers of a candidate or of its preparation.
  bool load(LoadedCandidate& candidate, std::uint32_t k);
  bool call_once(LoadedCandidate& candidate, std::uint32_t k, double& duration_us);
  // Runs the preparation unless all that it writes is there; false when the report holds a failure.
  bool prepare_constants(LoadedCandidate& candidate, const KernelMessage& view, std::uint32_t k);
  // Whether the calls so far kept to their bounds and succeeded; if not the report says so.
  bool in_order(const LoadedCandidate& candidate, std::uint32_t k, const Status& status);
  void note_values(const LoadedCandidate& candidate, std::uint32_t k, Answers::When when);
  // Once more, on inputs that it has not seen, when it left those that it has as they were; false
  // when the report holds a failure.
  bool run_on_fresh_inputs(LoadedCandidate& candidate, std::uint32_t k);
  void finish(LoadedCandidate& candidate, std::uint32_t k, outcome::Timing timing);
  bool run_round(std::vector<Contender>& contenders);

  std::vector<int> cores_;
  const CageRules* cage_;
  const Descriptor& channel_;
  std::unique_ptr<runtime::Device> device_;
  SteadyClock clock_;
  std::optional<Exchange> exchange_;
  std::vector<KernelMessage> views_;
  BufferStore store_;
  Sentinel sentinel_;
  MemoryLimit memory_limit_;
  std::map<int, std::unique_ptr<runtime::ThreadPool>> pools_;  // by their threads; idle ones sleep
  bool caged_ = false;
  double busy_us_ = 0;  // in calls, since the last announcement
};

void Worker::open(Message message) {
  auto exchange =
      Exchange::attach(std::move(message.descriptors[0]), std::move(message.descriptors[1]));
  CHECK(exchange.ok(), exchange.error().message);
  views_.clear();
  exchange_.emplace(std::move(exchange).value());
  exchange_->close_descriptors();
  views_ = exchange_->candidates();
  if (caged_) return;  // the server starts another worker where other threads are needed
  for (const KernelMessage& view : views_) pool_for(view.facts.threads);
  pool_for(sentinel_threads());
}

Status Worker::enter_cage() {
  if (caged_) return {};
  caged_ = true;
  dup2(STDOUT_FILENO, STDERR_FILENO);  // which is nothing: kernels fill no logs
  if (cage_ == nullptr) return {};
  const WorkerNeeds needs(*exchange_);
  return attune::enter_cage(
      *cage_, {.own_calls = kOwnCalls,
               .memory_bytes = static_cast<std::int64_t>(needs.mapped_bytes) +
                               BufferStore::kKeepBytes + options().memory_limit_bytes});
}

runtime::ThreadPool& Worker::pool_for(int threads) {
  std::unique_ptr<runtime::ThreadPool>& pool = pools_[threads];
  if (!pool) {
    pool = std::make_unique<runtime::ThreadPool>(
        runtime::ThreadPoolOptions{.workers = threads, .cores = cores_});
  }
  return *pool;
}

int Worker::sentinel_threads() const {
  int threads = 1;
  for (const KernelMessage& view : views_) threads = std::max(threads, view.facts.threads);
  return std::min(threads, static_cast<int>(cores_.size()));
}

void Worker::enter(std::uint32_t k, Phase phase) {
  progress().candidate = k;
  progress().phase = phase;
  progress().since_ns = clock_.now_ns();
}

void Worker::announce(std::uint32_t k) {
  (void)send(channel_, MessageKind::Running, k);
  busy_us_ = 0;
}

bool Worker::load(LoadedCandidate& candidate, std::uint32_t k) {
  enter(k, Phase::Load);
  watch(&progress().fault, {});
  if (const Status loaded = candidate.load_code(*device_); !loaded.ok()) {
    report(k).fail(ReportState::BuildFailed, Phase::Load, loaded.error().message);
    return false;
  }
  enter(k, Phase::Prepare);
  const Candidate& facts = candidate.facts();
  if (facts.workspace_bytes > options().memory_limit_bytes) {
    report(k).fail(ReportState::Crashed, Phase::Prepare,
                   fmt::format("asks for {} bytes of workspace, more than its limit of {}",
                               facts.workspace_bytes, options().memory_limit_bytes));
    return false;
  }
  if (const Status ready = candidate.prepare_buffers(options().rotate_bytes); !ready.ok()) {
    report(k).fail(ReportState::Lost, Phase::Prepare, ready.error().message);
    return false;
  }
  return true;
}

bool Worker::prepare_constants(LoadedCandidate& candidate, const KernelMessage& view,
                               std::uint32_t k) {
  if (view.preparation == nullptr) return true;
  const std::vector<BufferStore::Slot*> outputs = candidate.unprepared();
  if (outputs.empty()) return true;
  std::atomic<bool>& preparing = progress().preparing;
  preparing = true;
  LoadedCandidate preparation(*view.preparation, store_, outputs);
  double duration_us = 0.0;
  bool done = load(preparation, k);
  if (done) {
    watch(&progress().fault, preparation.watched());
    announce(k);
    done = call_once(preparation, k, duration_us);
  }
  preparing = false;
  // A failure of the preparation is one of the candidate, in the phase before its own.
  if (!done) report(k).phase = Phase::Prepare;
  enter(k, Phase::Prepare);
  if (done) candidate.seal_prepared();
  return done;
}

std::optional<double> Worker::begin(LoadedCandidate& candidate, std::uint32_t k) {
  if (!load(candidate, k) || !prepare_constants(candidate, views_[k], k)) return std::nullopt;
  candidate.poison_outputs();
  watch(&progress().fault, candidate.watched());
  announce(k);
  double duration_us = 0.0;
  if (!call_once(candidate, k, duration_us)) return std::nullopt;
  note_values(candidate, k, Answers::When::First);
  return duration_us;
}

bool Worker::call_once(LoadedCandidate& candidate, std::uint32_t k, double& duration_us) {
  runtime::ThreadPool& pool = pool_for(candidate.facts().threads);
  memory_limit_.allow_growth(options().memory_limit_bytes);
  enter(k, Phase::Run);
  const std::int64_t start = clock_.now_ns();
  const Status status = candidate.call(pool, 1);
  duration_us = static_cast<double>(clock_.now_ns() - start) * 1e-3;
  busy_us_ += duration_us;
  memory_limit_.lift();
  return in_order(candidate, k, status);
}

bool Worker::in_order(const LoadedCandidate& candidate, std::uint32_t k, const Status& status) {
  if (const std::optional<std::string> damage = candidate.bounds_damage()) {
    report(k).fail(ReportState::Crashed, Phase::Run, *damage);
    report(k).tainted = true;
    return false;
  }
  if (!status.ok()) {
    report(k).fail(ReportState::Crashed, Phase::Run, "the " + status.error().message);
    report(k).tainted = candidate.changed_inputs();
    return false;
  }
  return true;
}

void Worker::note_values(const LoadedCandidate& candidate, std::uint32_t k, Answers::When when) {
  const std::span<double> values = exchange_->replies().values(k, when);
  if (values.empty()) return;
  enter(k, Phase::Verify);
  candidate.read_samples(when, values);
}

bool Worker::run_on_fresh_inputs(LoadedCandidate& candidate, std::uint32_t k) {
  if (candidate.changed_inputs()) {
    report(k).fail(ReportState::Crashed, Phase::Run, "changed what it may only read");
    report(k).tainted = true;
    return false;
  }
  if (candidate.facts().verification.fresh.empty()) return true;
  candidate.take_fresh_inputs();
  candidate.poison_outputs();
  watch(&progress().fault, candidate.watched());
  double duration_us = 0.0;
  if (!call_once(candidate, k, duration_us)) return false;
  note_values(candidate, k, Answers::When::Fresh);
  return true;
}

void Worker::finish(LoadedCandidate& candidate, std::uint32_t k, outcome::Timing timing) {
  note_values(candidate, k, Answers::When::Last);
  Report& result = report(k);
  timing.cold_weights = candidate.rotates();
  if (candidate.facts().return_outputs) {
    candidate.copy_outputs(exchange_->replies().outputs(k).data());
  }
  if (!run_on_fresh_inputs(candidate, k)) return;
  result.timing = timing;
  result.busy_us = busy_us_;
  result.state = ReportState::Timed;
}

void Worker::measure(std::uint32_t k) {
  LoadedCandidate candidate(views_[k], store_);
  const std::optional<double> first_us = begin(candidate, k);
  if (first_us) {
    const Candidate& facts = candidate.facts();
    // What it wrote now must not pass for what it writes later, if it is called again.
    if (!is_told_by_one_call(*first_us, facts.best_known_us, options())) candidate.poison_outputs();
    runtime::ThreadPool& pool = pool_for(facts.threads);
    Status status;
    const Calls calls = [&](std::int64_t count) {
      if (status.ok()) status = candidate.call(pool, count);
    };
    memory_limit_.allow_growth(options().memory_limit_bytes);
    enter(k, Phase::Run);
    const std::int64_t start = clock_.now_ns();
    const outcome::Timing timing =
        time_kernel(clock_, calls, *first_us, facts.best_known_us, options());
    busy_us_ += static_cast<double>(clock_.now_ns() - start) * 1e-3;
    memory_limit_.lift();
    if (in_order(candidate, k, status)) finish(candidate, k, timing);
  }
  watch(nullptr, {});
}

bool Worker::run_round(std::vector<Contender>& contenders) {
  for (Contender& contender : contenders) {
    const std::uint32_t k = contender.number;
    if (report(k).state != ReportState::Pending) continue;
    LoadedCandidate& candidate = *contender.candidate;
    watch(&progress().fault, candidate.watched());
    double warm_us = 0.0;  // brings code and data back into the caches
    if (!call_once(candidate, k, warm_us)) {
      if (report(k).tainted) return false;
      continue;
    }
    contender.calls = std::max(contender.calls, calls_per_repeat(warm_us, options().repeat_us));
    runtime::ThreadPool& pool = pool_for(candidate.facts().threads);
    Status status;
    memory_limit_.allow_growth(options().memory_limit_bytes);
    enter(k, Phase::Run);
    contender.repeats_us.push_back(time_repeat(
        clock_, [&](std::int64_t count) { status = candidate.call(pool, count); },
        contender.calls));
    memory_limit_.lift();
    if (!in_order(candidate, k, status) && report(k).tainted) return false;
  }
  return true;
}

void Worker::interleave() {
  std::vector<Contender> contenders;
  for (std::uint32_t k = 0; k < views_.size(); ++k) {
    if (report(k).state != ReportState::Pending) continue;
    Contender contender{.number = k,
                        .candidate = std::make_unique<LoadedCandidate>(views_[k], store_)};
    if (begin(*contender.candidate, k)) contenders.push_back(std::move(contender));
    if (report(k).tainted) return;
  }
  const RequestHeader& header = exchange_->header();
  for (int round = 0; round < header.rounds; ++round) {
    if (!run_round(contenders)) return;
    if (round + 1 == header.rounds || contenders.empty()) break;
    enter(contenders.front().number, Phase::Prepare);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(header.round_gap_ms));
  }
  for (Contender& contender : contenders) {
    if (report(contender.number).state != ReportState::Pending) continue;
    double again_us = 0.0;  // the outputs may be those of another candidate in shared memory
    contender.candidate->poison_outputs();
    if (!call_once(*contender.candidate, contender.number, again_us)) continue;
    finish(*contender.candidate, contender.number,
           summarize(contender.repeats_us, contender.calls));
  }
  watch(nullptr, {});
}

void Worker::read_sentinel(std::uint32_t after) {
  const auto reading = sentinel_.read(clock_, pool_for(sentinel_threads()));
  if (!reading.ok()) return;
  Answers::Header& header = exchange_->replies().header();
  (after != 0 ? header.after : header.before) = *reading;
}

// Whether to go on.
bool obey(Worker& worker, Message& message) {
  switch (message.kind) {
    case MessageKind::Open:
      worker.open(std::move(message));
      return true;
    case MessageKind::Measure:
      if (!worker.enter_cage().ok()) _exit(kNoCageExitStatus);
      worker.measure(message.value);
      break;
    case MessageKind::Interleave:
      if (!worker.enter_cage().ok()) _exit(kNoCageExitStatus);
      worker.interleave();
      break;
    case MessageKind::Sentinel:
      worker.read_sentinel(message.value);
      break;
    case MessageKind::Running:
    case MessageKind::Alive:
    case MessageKind::Done:
      break;
  }
  return worker.answer();
}

}  // namespace

void run_worker(const Descriptor& channel, const RunnerOptions& options) {
  give_up_privileges();
  if (!runtime::pin_current_thread(options.cores.front()).ok()) _exit(kNoCoreExitStatus);
  install_crash_watch();
  std::unique_ptr<runtime::Device> device;
  if (options.device != nullptr) {
    auto opened = options.device->open(options.device->name);
    if (!opened.ok()) _exit(kNoDeviceExitStatus);
    device = std::move(*opened);
  }
  Worker worker(options, channel, std::move(device));
  while (std::optional<Message> message = receive(channel)) {
    if (!obey(worker, *message)) return;
  }
}

}  // namespace attune::probe
