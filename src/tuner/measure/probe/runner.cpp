#include "tuner/measure/probe/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "base/cage/control_group.h"
#include "runtime/execution/affinity.h"
#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/exchange.h"
#include "tuner/measure/probe/sentinel.h"
#include "tuner/measure/probe/server.h"
#include "tuner/measure/probe/verification.h"

namespace attune::probe {
namespace {

using outcome::Outcome;

// Leaves behind what a fork inherits: signal handlers, open files, standard input and output.
void shed_inheritance(int keep) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  // The terminal's interrupt goes to the asking process, which ends us when it is done.
  for (int number : {SIGINT, SIGHUP, SIGPIPE, SIGQUIT}) signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  const auto close_all = [](unsigned first, unsigned last) {
    if (first <= last) syscall(SYS_close_range, first, last, 0);
  };
  close_all(3, static_cast<unsigned>(keep) - 1);
  close_all(static_cast<unsigned>(keep) + 1, ~0u);
  prctl(PR_SET_NAME, "attune-probe");
}

Status check_buffer(const Buffer& buffer, std::size_t candidate, std::size_t number) {
  const std::string where = fmt::format("buffer {} of candidate {}", number, candidate);
  if (buffer.elements < 0)
    return invalid(fmt::format("{} has {} elements", where, buffer.elements));
  if (buffer.role == Role::Output && (buffer.contents || buffer.rotate)) {
    return invalid(where + " is an output and can have no contents and no rotation");
  }
  const auto bytes = static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type);
  if (buffer.prepared >= 0 && (buffer.role != Role::Constant || buffer.contents)) {
    return invalid(where + " is prepared, but is no constant or has contents");
  }
  if (buffer.contents && buffer.contents->size() != bytes) {
    return invalid(fmt::format("{} has {} bytes of contents, needs {}", where,
                               buffer.contents->size(), bytes));
  }
  return {};
}

// Each prepared constant names an output of the preparation of its own size.
Status check_preparation(const Candidate& candidate, std::size_t number) {
  std::vector<std::size_t> outputs;
  const auto bytes_of = [](const Buffer& buffer) {
    return static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type);
  };
  if (candidate.preparation) {
    const Preparation& preparation = *candidate.preparation;
    if (!preparation.object) {
      return invalid(fmt::format("the preparation of candidate {} has no object", number));
    }
    for (const Buffer& buffer : preparation.buffers) {
      if (buffer.role == Role::Output) outputs.push_back(bytes_of(buffer));
    }
  }
  std::size_t prepared = 0;
  for (const Buffer& buffer : candidate.buffers) {
    if (buffer.prepared < 0) continue;
    ++prepared;
    const auto output = static_cast<std::size_t>(buffer.prepared);
    if (output >= outputs.size() || outputs[output] != bytes_of(buffer)) {
      return invalid(
          fmt::format("candidate {} takes output {} of its preparation, which does not"
                      " exist or has another size",
                      number, buffer.prepared));
    }
  }
  if (prepared == outputs.size()) return {};
  return invalid(fmt::format("candidate {} takes {} of {} outputs of its preparation", number,
                             prepared, outputs.size()));
}

Status check_samples(const Candidate& candidate, std::span<const Sample> samples,
                     std::size_t number) {
  for (const Sample& sample : samples) {
    const bool known =
        sample.buffer >= 0 && static_cast<std::size_t>(sample.buffer) < candidate.buffers.size();
    if (!known || sample.index < 0 ||
        sample.index >= candidate.buffers[static_cast<std::size_t>(sample.buffer)].elements) {
      return invalid(
          fmt::format("candidate {} is verified at element {} of buffer {}, which "
                      "does not exist",
                      number, sample.index, sample.buffer));
    }
  }
  return {};
}

Status check_request(std::span<const Candidate> candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (!candidate.object) return invalid(fmt::format("candidate {} has no object", i));
    if (candidate.threads < 1 || candidate.workspace_bytes < 0) {
      return invalid(fmt::format("candidate {} asks for {} threads and {} bytes of workspace", i,
                                 candidate.threads, candidate.workspace_bytes));
    }
    for (std::size_t b = 0; b < candidate.buffers.size(); ++b) {
      ATTUNE_RETURN_IF_ERROR(check_buffer(candidate.buffers[b], i, b));
    }
    ATTUNE_RETURN_IF_ERROR(check_preparation(candidate, i));
    ATTUNE_RETURN_IF_ERROR(check_samples(candidate, candidate.verification.samples, i));
    ATTUNE_RETURN_IF_ERROR(check_samples(candidate, candidate.verification.fresh, i));
  }
  return {};
}

Status check_cores(const std::vector<int>& cores) {
  Status status;
  // In a thread, so that this one stays where it is.
  std::thread([&] {
    for (int core : cores) {
      status = runtime::pin_current_thread(core);
      if (!status.ok()) return;
    }
  }).join();
  return status;
}

std::vector<std::vector<std::byte>> outputs_of(std::span<const std::byte> all,
                                               const Candidate& candidate) {
  std::vector<std::vector<std::byte>> outputs;
  std::size_t offset = 0;
  for (const Buffer& buffer : candidate.buffers) {
    if (buffer.role != Role::Output) continue;
    const auto bytes = static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type);
    outputs.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(offset),
                         all.begin() + static_cast<std::ptrdiff_t>(offset + bytes));
    offset += (bytes + 63) / 64 * 64;
  }
  return outputs;
}

// A timing counts when what the kernel wrote is right: after its first call, after its last, and of
// inputs that it had not seen.
Outcome verified(outcome::Timing timing, const Answers& verdicts, std::size_t k,
                 const Verification& verification) {
  if (verification.samples.empty()) return timing;
  using When = Answers::When;
  for (const When when : {When::First, When::Last, When::Fresh}) {
    const bool fresh = when == When::Fresh;
    const Comparison comparison = compare(
        verification, fresh ? verification.fresh : verification.samples, verdicts.values(k, when));
    timing.max_error = std::max(timing.max_error, comparison.max_error);
    if (comparison.right) continue;
    return outcome::WrongAnswer{
        outcome::Phase::Verify, timing.max_error,
        describe_wrong(verification, comparison) + (fresh ? ", of fresh inputs" : "")};
  }
  timing.verified = true;
  return timing;
}

Measured measured_of(const Answers& verdicts, std::size_t k, const Candidate& candidate) {
  Measured measured{verdicts.report(k).outcome(), {}};
  const auto* timing = std::get_if<outcome::Timing>(&measured.outcome);
  if (timing == nullptr) return measured;
  if (candidate.return_outputs) measured.outputs = outputs_of(verdicts.outputs(k), candidate);
  measured.outcome = verified(*timing, verdicts, k, candidate.verification);
  if (!std::holds_alternative<outcome::Timing>(measured.outcome)) measured.outputs.clear();
  return measured;
}

// Takes the faster timing of two passes; a failure stays a failure.
void keep_better(Measured& kept, Measured&& again) {
  const auto* old_timing = std::get_if<outcome::Timing>(&kept.outcome);
  const auto* new_timing = std::get_if<outcome::Timing>(&again.outcome);
  if (old_timing == nullptr) return;
  if (new_timing == nullptr || new_timing->best_us < old_timing->best_us) kept = std::move(again);
}

}  // namespace

struct Runner::Impl {
  RunnerOptions settings;
  std::mutex mutex;
  pid_t server = -1;
  std::unique_ptr<ControlGroup> group;  // of the server and all that it starts; null: none
  Descriptor channel;
  DriftLimit drift_limit;

  ~Impl() { end_server(); }

  Status start_server();
  void end_server();
  // Has the server work on the exchange; what it could not finish stays pending there.
  Status ask(const Exchange& exchange, MessageKind kind);
  Result<Batch> pass(std::span<const Candidate> candidates, const InterleaveOptions& options,
                     bool interleaved);
  Result<Batch> measure(std::span<const Candidate> candidates, const InterleaveOptions& options,
                        bool interleaved);
};

Status Runner::Impl::start_server() {
  auto ends = make_channel();
  if (!ends.ok()) return ends.error();
  if (settings.cage != nullptr) {
    auto made = ControlGroup::make();
    if (made.ok()) group = std::move(*made);
  }
  std::fflush(nullptr);  // so that no buffered text is written twice
  const pid_t child = fork();
  if (child < 0) {
    return Error{ErrorCode::Exhausted,
                 std::string("cannot start the measuring process: ") + std::strerror(errno),
                 "raise the limit of processes (ulimit -u)"};
  }
  if (child == 0) {
    shed_inheritance(ends->second.number());
    run_server(ends->second, settings, group.get());
    _exit(0);
  }
  server = child;
  channel = std::move(ends->first);
  return {};
}

void Runner::Impl::end_server() {
  if (server <= 0) return;
  constexpr double kPatienceMs = 2'000.0;
  channel = Descriptor();  // the server ends when it sees this
  if (!await_exit(server, kPatienceMs)) (void)end_group(server);
  server = -1;
  group.reset();
}

Status Runner::Impl::ask(const Exchange& exchange, MessageKind kind) {
  if (server <= 0) ATTUNE_RETURN_IF_ERROR(start_server());
  const std::vector<int> descriptors = exchange.descriptors(true);
  if (!send(channel, kind, 0, descriptors)) {  // it was lost while idle: nothing has been run yet
    end_server();
    ATTUNE_RETURN_IF_ERROR(start_server());
    if (!send(channel, kind, 0, descriptors)) {
      return Error{ErrorCode::Io, "the measuring process is gone", ""};
    }
  }
  for (;;) {
    const bool said = is_readable(channel, settings.silence_ms);
    const std::optional<Message> message = said ? receive(channel) : std::nullopt;
    if (message && message->kind == MessageKind::Done) return {};
    if (message) continue;  // it is alive
    if (!said) (void)end_group(server);
    end_server();
    return {};
  }
}

Result<Batch> Runner::Impl::pass(std::span<const Candidate> candidates,
                                 const InterleaveOptions& options, bool interleaved) {
  ATTUNE_ASSIGN(const Exchange exchange, Exchange::create(candidates, options, interleaved));
  ATTUNE_RETURN_IF_ERROR(ask(exchange, MessageKind::Measure));
  Batch batch;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    batch.candidates.push_back(measured_of(exchange.verdicts(), i, candidates[i]));
  }
  batch.before = exchange.verdicts().header().before;
  batch.after = exchange.verdicts().header().after;
  batch.drift = drift_between(batch.before, batch.after);
  return batch;
}

Result<Batch> Runner::Impl::measure(std::span<const Candidate> candidates,
                                    const InterleaveOptions& options, bool interleaved) {
  ATTUNE_RETURN_IF_ERROR(check_request(candidates));
  const std::lock_guard<std::mutex> lock(mutex);
  ATTUNE_ASSIGN(Batch batch, pass(candidates, options, interleaved));
  const double limit = drift_limit.limit();
  drift_limit.learn(batch.drift);
  if (batch.drift <= limit) return batch;
  if (options.measure.remeasure_on_drift) {
    ATTUNE_ASSIGN(Batch again, pass(candidates, options, interleaved));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      keep_better(batch.candidates[i], std::move(again.candidates[i]));
    }
    batch.before = again.before;
    batch.after = again.after;
    batch.drift = again.drift;
  }
  batch.noisy = batch.drift > limit;
  for (Measured& measured : batch.candidates) {
    if (auto* timing = std::get_if<outcome::Timing>(&measured.outcome)) {
      timing->noisy = batch.noisy;
    }
  }
  return batch;
}

Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;
Runner::~Runner() = default;

Result<Runner> Runner::start(const RunnerOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->settings = options;
  if (options.cores.empty()) impl->settings.cores = runtime::allowed_cores();
  ATTUNE_RETURN_IF_ERROR(check_cores(impl->settings.cores));
  ATTUNE_RETURN_IF_ERROR(impl->start_server());
  return Runner(std::move(impl));
}

Result<Batch> Runner::measure(std::span<const Candidate> candidates,
                              const MeasureOptions& options) {
  return impl_->measure(candidates, {.measure = options}, false);
}

Result<Batch> Runner::measure_interleaved(std::span<const Candidate> candidates,
                                          const InterleaveOptions& options) {
  return impl_->measure(candidates, options, true);
}

Result<SentinelReading> Runner::sentinel() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  ATTUNE_ASSIGN(const Exchange exchange, Exchange::create({}, {}, false));
  ATTUNE_RETURN_IF_ERROR(impl_->ask(exchange, MessageKind::Sentinel));
  return exchange.verdicts().header().before;
}

}  // namespace attune::probe
