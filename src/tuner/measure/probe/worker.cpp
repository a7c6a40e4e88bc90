#include "tuner/measure/probe/worker.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/crash_watch.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/loaded_candidate.h"
#include "tuner/measure/probe/sentinel.h"
#include "tuner/measure/probe/timing_loop.h"

namespace attune::probe {
namespace {

using outcome::Phase;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitMemory = false;  // their shadow memory is larger than any limit
#else
constexpr bool kCanLimitMemory = true;
#endif

// Lets the process grow by `bytes` beyond what it has now; negative: without a limit.
void limit_growth(std::int64_t bytes) {
  if (!kCanLimitMemory) return;
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  if (bytes >= 0) {
    long pages = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "re")) {
      if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    if (pages == 0) return;
    const auto used = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    limit.rlim_cur = std::min(limit.rlim_max, used + static_cast<rlim_t>(bytes));
  }
  setrlimit(RLIMIT_AS, &limit);
}

void pause_ms(double milliseconds) {
  timespec time = {};
  time.tv_sec = static_cast<time_t>(milliseconds / 1e3);
  time.tv_nsec = static_cast<long>((milliseconds - static_cast<double>(time.tv_sec) * 1e3) * 1e6);
  nanosleep(&time, nullptr);
}

class Worker {
 public:
  Worker(const std::vector<int>& cores, std::unique_ptr<runtime::Device> device)
      : cores_(cores), device_(std::move(device)) {}

  void open(int descriptor) {
    auto exchange = Exchange::attach(descriptor);
    CHECK(exchange.ok(), exchange.error().message);
    views_.clear();
    exchange_.emplace(std::move(exchange).value());
    views_ = exchange_->candidates();
  }

  void measure(std::uint32_t k);
  void interleave();
  void read_sentinel(std::uint32_t after);

 private:
  struct Contender {
    std::uint32_t number;
    std::unique_ptr<LoadedCandidate> candidate;
    std::int64_t calls = 1;
    std::vector<double> repeats_us = {};
  };

  const MeasureOptions& options() const { return exchange_->header().options; }
  Report& report(std::uint32_t k) { return exchange_->reports()[k]; }
  runtime::ThreadPool& pool_for(int threads);
  void enter(std::uint32_t k, Phase phase);
  // Loads, prepares, calls once and verifies; the duration of that call, or nothing when the report
  // holds a failure.
  std::optional<double> begin(LoadedCandidate& candidate, std::uint32_t k);
  // Code and buffers of a candidate or of its preparation.
  bool load(LoadedCandidate& candidate, std::uint32_t k);
  bool call_once(LoadedCandidate& candidate, std::uint32_t k, double& duration_us);
  // Runs the preparation unless all that it writes is there; false when the report holds a failure.
  bool prepare_constants(LoadedCandidate& candidate, const CandidateView& view, std::uint32_t k);
  // Whether the calls so far kept to their bounds and succeeded; if not the report says so.
  bool in_order(const LoadedCandidate& candidate, std::uint32_t k, const Status& status);
  bool verified(const LoadedCandidate& candidate, std::uint32_t k);
  void finish(LoadedCandidate& candidate, std::uint32_t k, outcome::Timing timing);
  bool run_round(std::vector<Contender>& contenders);

  std::vector<int> cores_;
  std::unique_ptr<runtime::Device> device_;
  SteadyClock clock_;
  std::optional<Exchange> exchange_;
  std::vector<CandidateView> views_;
  BufferStore store_;
  Sentinel sentinel_;
  std::unique_ptr<runtime::ThreadPool> pool_;
};

runtime::ThreadPool& Worker::pool_for(int threads) {
  if (!pool_ || pool_->workers() != threads) {
    pool_.reset();
    pool_ = std::make_unique<runtime::ThreadPool>(
        runtime::ThreadPoolOptions{.workers = threads, .cores = cores_});
  }
  return *pool_;
}

void Worker::enter(std::uint32_t k, Phase phase) {
  Progress& progress = exchange_->header().progress;
  progress.candidate = k;
  progress.phase = phase;
  progress.since_ns = clock_.now_ns();
}

bool Worker::load(LoadedCandidate& candidate, std::uint32_t k) {
  enter(k, Phase::Load);
  watch(&exchange_->header().progress.fault, {});
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

bool Worker::prepare_constants(LoadedCandidate& candidate, const CandidateView& view,
                               std::uint32_t k) {
  if (view.preparation == nullptr) return true;
  const std::vector<BufferStore::Slot*> outputs = candidate.unprepared();
  if (outputs.empty()) return true;
  std::atomic<bool>& preparing = exchange_->header().progress.preparing;
  preparing = true;
  LoadedCandidate preparation(*view.preparation, store_, outputs);
  double duration_us = 0.0;
  bool done = load(preparation, k);
  if (done) {
    watch(&exchange_->header().progress.fault, preparation.watched());
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
  const Candidate& facts = candidate.facts();
  Fault* fault = &exchange_->header().progress.fault;
  if (facts.return_outputs || !facts.verification.samples.empty()) candidate.poison_outputs();
  pool_for(facts.threads);
  watch(fault, candidate.watched());
  double duration_us = 0.0;
  if (!call_once(candidate, k, duration_us) || !verified(candidate, k)) return std::nullopt;
  return duration_us;
}

bool Worker::call_once(LoadedCandidate& candidate, std::uint32_t k, double& duration_us) {
  runtime::ThreadPool& pool = pool_for(candidate.facts().threads);
  limit_growth(options().memory_limit_bytes);
  enter(k, Phase::Run);
  const std::int64_t start = clock_.now_ns();
  const Status status = candidate.call(pool, 1);
  duration_us = static_cast<double>(clock_.now_ns() - start) * 1e-3;
  limit_growth(-1);
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
    return false;
  }
  return true;
}

bool Worker::verified(const LoadedCandidate& candidate, std::uint32_t k) {
  const Verification& verification = candidate.facts().verification;
  if (verification.samples.empty()) return true;
  enter(k, Phase::Verify);
  const Comparison comparison = candidate.verify();
  report(k).max_error = std::max(report(k).max_error, comparison.max_error);
  if (comparison.right) return true;
  report(k).fail(ReportState::Wrong, Phase::Verify, describe_wrong(verification, comparison));
  return false;
}

void Worker::finish(LoadedCandidate& candidate, std::uint32_t k, outcome::Timing timing) {
  if (!verified(candidate, k)) return;
  Report& result = report(k);
  timing.cold_weights = candidate.rotates();
  timing.verified = !candidate.facts().verification.samples.empty();
  timing.max_error = result.max_error;
  if (candidate.facts().return_outputs) {
    candidate.copy_outputs(exchange_->at(result.outputs_offset));
  }
  result.timing = timing;
  result.state = ReportState::Timed;
}

void Worker::measure(std::uint32_t k) {
  LoadedCandidate candidate(views_[k], store_);
  const std::optional<double> first_us = begin(candidate, k);
  if (first_us) {
    runtime::ThreadPool& pool = pool_for(candidate.facts().threads);
    Status status;
    const Calls calls = [&](std::int64_t count) {
      if (status.ok()) status = candidate.call(pool, count);
    };
    limit_growth(options().memory_limit_bytes);
    enter(k, Phase::Run);
    const outcome::Timing timing =
        time_kernel(clock_, calls, *first_us, candidate.facts().best_known_us, options());
    limit_growth(-1);
    if (in_order(candidate, k, status)) finish(candidate, k, timing);
  }
  watch(nullptr, {});
}

bool Worker::run_round(std::vector<Contender>& contenders) {
  for (Contender& contender : contenders) {
    const std::uint32_t k = contender.number;
    if (report(k).state != ReportState::Pending) continue;
    LoadedCandidate& candidate = *contender.candidate;
    watch(&exchange_->header().progress.fault, candidate.watched());
    double warm_us = 0.0;  // brings code and data back into the caches
    if (!call_once(candidate, k, warm_us)) {
      if (report(k).tainted) return false;
      continue;
    }
    contender.calls = std::max(contender.calls, calls_per_repeat(warm_us, options().repeat_us));
    runtime::ThreadPool& pool = pool_for(candidate.facts().threads);
    Status status;
    enter(k, Phase::Run);
    contender.repeats_us.push_back(time_repeat(
        clock_, [&](std::int64_t count) { status = candidate.call(pool, count); },
        contender.calls));
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
  const ExchangeHeader& header = exchange_->header();
  for (int round = 0; round < header.rounds; ++round) {
    if (!run_round(contenders)) return;
    if (round + 1 == header.rounds || contenders.empty()) break;
    enter(contenders.front().number, Phase::Prepare);
    if (header.round_gap_ms > 0.0) pause_ms(header.round_gap_ms);
  }
  for (Contender& contender : contenders) {
    if (report(contender.number).state != ReportState::Pending) continue;
    double again_us = 0.0;  // the outputs may be those of another candidate in shared memory
    if (!call_once(*contender.candidate, contender.number, again_us)) continue;
    finish(*contender.candidate, contender.number,
           summarize(contender.repeats_us, contender.calls));
  }
  watch(nullptr, {});
}

void Worker::read_sentinel(std::uint32_t after) {
  int threads = 1;
  for (const CandidateView& view : views_) threads = std::max(threads, view.facts.threads);
  threads = std::min(threads, static_cast<int>(cores_.size()));
  const auto reading = sentinel_.read(clock_, pool_for(threads));
  if (!reading.ok()) return;
  (after != 0 ? exchange_->header().after : exchange_->header().before) = *reading;
}

}  // namespace

void run_worker(const Descriptor& channel, const RunnerOptions& options) {
  if (!runtime::pin_current_thread(options.cores.front()).ok()) return;
  install_crash_watch();
  std::unique_ptr<runtime::Device> device;
  if (options.device != nullptr) {
    auto opened = options.device->open(options.device->name);
    if (!opened.ok()) return;
    device = std::move(*opened);
  }
  Worker worker(options.cores, std::move(device));
  while (const std::optional<Message> message = receive(channel)) {
    switch (message->kind) {
      case MessageKind::Open:
        worker.open(message->descriptor);
        continue;
      case MessageKind::Measure:
        worker.measure(message->value);
        break;
      case MessageKind::Interleave:
        worker.interleave();
        break;
      case MessageKind::Sentinel:
        worker.read_sentinel(message->value);
        break;
      case MessageKind::Done:
        break;
    }
    if (!send(channel, {.kind = MessageKind::Done})) return;
  }
}

}  // namespace attune::probe
