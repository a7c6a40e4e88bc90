#include "tuner/measure/device_runner/connection.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "tuner/measure/device_runner/wanted.h"

namespace attune::device_runner {
namespace {

using outcome::Phase;

std::int64_t after_ms(double milliseconds) {
  return SteadyClock().now_ns() + static_cast<std::int64_t>(milliseconds * 1e6);
}

bool runs_kernel(Phase phase) { return phase == Phase::Run || phase == Phase::Verify; }

}  // namespace

double Connection::limit_ms(Phase phase, double timeout_ms) const {
  return runs_kernel(phase) ? timeout_ms : options_.set_up_ms;
}

void Connection::renew() {
  process_.reset();
  ++generation_;
}

Status Connection::ensure_open() {
  if (process_ && process_->is_alive()) return {};
  renew();
  ATTUNE_ASSIGN(Spawned started, Spawned::start(options_.command));
  process_.emplace(std::move(started));
  Bytes bytes;
  append_text(bytes, options_.kind);
  append_text(bytes, options_.target);
  append_value(bytes, options_.launch_us);
  const auto fail = [&](std::string why) {
    renew();
    return Error{ErrorCode::Io,
                 fmt::format("the device '{}' does not open: {}", options_.kind, why),
                 "'attune doctor' says what this machine has"};
  };
  const std::int64_t deadline = after_ms(options_.open_ms);
  Message answer;
  if (!send(process_->line(), {Kind::Open, std::move(bytes)}, deadline)) {
    return fail("its process does not listen");
  }
  const Heard heard = receive(process_->line(), answer, deadline);
  if (heard == Heard::Late) return fail(fmt::format("no answer in {:.0f} ms", options_.open_ms));
  if (heard == Heard::Gone) return fail("its process ended");
  if (answer.kind == Kind::Done) return {};
  AnswerReader reader(answer.bytes);
  (void)reader.value<ErrorCode>();
  return fail(reader.text());
}

Reply Connection::ask(Kind kind, std::uint64_t id, const Bytes& more, Phase phase,
                      double timeout_ms) {
  if (const Status open = ensure_open(); !open.ok()) {
    return {.failure = outcome::InfrastructureLost{phase, open.error().message}};
  }
  Message message{kind, numbered(id, more)};
  if (message.bytes.size() > kMostMessageBytes) {
    return {.failure = outcome::RunCrashed{
                Phase::Load, 0, fmt::format("{} bytes of code are too many", more.size())}};
  }
  if (!send(process_->line(), std::move(message), after_ms(options_.set_up_ms))) {
    return {.failure = blame_end(phase)};
  }
  return await_answer(phase, timeout_ms);
}

Reply Connection::await_answer(Phase phase, double timeout_ms) {
  std::int64_t deadline = after_ms(limit_ms(phase, timeout_ms));
  for (;;) {
    Message answer;
    const Heard heard = receive(process_->line(), answer, deadline);
    if (heard == Heard::Gone) return {.failure = blame_end(phase)};
    if (heard == Heard::Late) {
      renew();
      const double limit = limit_ms(phase, timeout_ms);
      return {.failure =
                  outcome::TimedOut{phase, limit, fmt::format("no answer after {:.0f} ms", limit)}};
    }
    AnswerReader reader(answer.bytes);
    if (answer.kind == Kind::Done) return {.done = std::move(answer.bytes)};
    if (answer.kind == Kind::Phase) {
      phase = reader.value<Phase>();
      deadline = after_ms(limit_ms(phase, timeout_ms));
      continue;
    }
    (void)reader.value<ErrorCode>();
    Reply reply{.failure = outcome::RunCrashed{phase, 0, reader.text()}};
    // What a kernel did to a device may show in whatever comes next.
    if (phase != Phase::Load) renew();
    return reply;
  }
}

outcome::Outcome Connection::blame_end(Phase phase) {
  const std::optional<int> status = process_->await_end();
  renew();
  if (!status) return outcome::RunCrashed{phase, 0, "the device's process hangs"};
  if (WIFSIGNALED(*status)) {
    const int number = WTERMSIG(*status);
    return outcome::RunCrashed{
        phase, number,
        fmt::format("the device's process ended by signal {} ({})", number, strsignal(number))};
  }
  return outcome::RunCrashed{
      phase, 0, fmt::format("the device's process ended with status {}", WEXITSTATUS(*status))};
}

}  // namespace attune::device_runner
