#include "fleet/jobs/book/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fleet/jobs/book/number_limits.h"
#include "fleet/jobs/book/user_limits.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

// The job that a message is about; empty: none.
std::string_view job_of(const v1::FromWorker& message) {
  switch (message.what_case()) {
    case v1::FromWorker::kKinds:
      return message.kinds().job();
    case v1::FromWorker::kOffer:
      return message.offer().job();
    case v1::FromWorker::kFinished:
      return message.finished().job();
    case v1::FromWorker::kProgress:
      return message.progress().job();
    case v1::FromWorker::kEnded:
      return message.ended().job();
    case v1::FromWorker::kAlive:
      return message.alive().job();
    default:
      return {};
  }
}

}  // namespace

std::string cut_text(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "~";
}

Status check_numbers(const v1::JobSpec& spec) {
  const auto bad = [](double value) { return !std::isfinite(value) || value < 0; };
  if (bad(spec.priority())) {
    return invalid(fmt::format("the priority is {}, must be positive", spec.priority()));
  }
  if (spec.trials() < 0 || bad(spec.seconds()) || bad(spec.until_latency_ms())) {
    return invalid("the budget is negative", "give --trials, --seconds or --until-latency above 0");
  }
  if (spec.threads() < 0 || spec.prefetch() < 0) {
    return invalid("the number of threads or of batches in flight is negative");
  }
  return {};
}

Status check_names(const v1::JobSpec& spec) {
  for (const auto& [what, text] : {std::pair("name", &spec.name()), std::pair("user", &spec.user()),
                                   std::pair("device", &spec.device())}) {
    if (text->size() <= wire::kLongestName) continue;
    return invalid(fmt::format("the {} of the job has {} bytes, must have at most {}", what,
                               text->size(), wire::kLongestName));
  }
  return {};
}

Status check_size(const v1::SubmitRequest& request) {
  const std::size_t bytes = request.spec().ByteSizeLong();
  if (bytes > wire::kLargestSpec) {
    return invalid(fmt::format("the job takes {} bytes to describe, must take at most {}", bytes,
                               wire::kLargestSpec));
  }
  const std::size_t key = request.idempotency_key().size(), report = request.known_json().size();
  if (key > wire::kLongestText) {
    return invalid(
        fmt::format("the key has {} bytes, must have at most {}", key, wire::kLongestText));
  }
  if (report <= wire::kLargestReport) return {};
  return invalid(
      fmt::format("the report has {} bytes, must have at most {}", report, wire::kLargestReport));
}

Status check_known(const v1::SubmitRequest& request) {
  if (request.known_json().empty() || is_within(request.known_ms(), kMostAmount)) return {};
  return invalid(fmt::format("the known latency is {} ms, must be from 0 to {}", request.known_ms(),
                             kMostAmount));
}

Status check_hello(const v1::Hello& hello) {
  if (hello.secret().size() > wire::kLongestSecret) {
    return invalid(fmt::format("the secret has {} bytes, must have at most {}",
                               hello.secret().size(), wire::kLongestSecret));
  }
  if (hello.devices_size() > wire::kMostDevices) {
    return invalid(fmt::format("the worker has {} kinds of devices, may have at most {}",
                               hello.devices_size(), wire::kMostDevices));
  }
  std::size_t longest = hello.name().size();
  for (const std::string& device : hello.devices()) longest = std::max(longest, device.size());
  if (longest <= wire::kLongestName) return {};
  return invalid(
      fmt::format("a name has {} bytes, must have at most {}", longest, wire::kLongestName));
}

// A report that is too long is left out, which is known when the job ends: see within_limits().
Status check_said(const v1::FromWorker& message) {
  const std::size_t bytes = message.ByteSizeLong();
  if (bytes > wire::kLargestSaid && !message.has_ended()) {
    return invalid(
        fmt::format("the message has {} bytes, must have at most {}", bytes, wire::kLargestSaid));
  }
  if (const std::size_t longest =
          std::max(job_of(message).size(), message.hello().version().size());
      longest > wire::kLongestName) {
    return invalid(
        fmt::format("a name has {} bytes, must have at most {}", longest, wire::kLongestName));
  }
  if (message.hello().holds_size() <= wire::kMostHolds) return {};
  return invalid(fmt::format("the worker says that it has {} jobs, may have at most {}",
                             message.hello().holds_size(), wire::kMostHolds));
}

Status check_asked_of_another(const v1::JobSpec& spec) {
  const char* const hint = "the scheduler's own user may give more";
  if (spec.priority() > kMostPriority) {
    return invalid(fmt::format("the priority is {}, must be at most {} on another user's scheduler",
                               spec.priority(), kMostPriority),
                   hint);
  }
  if (spec.prefetch() > kMostPrefetch) {
    return invalid(fmt::format("the job wants {} batches in flight, may have at most {} on another "
                               "user's scheduler",
                               spec.prefetch(), kMostPrefetch),
                   hint);
  }
  if (spec.seconds() <= kMostBudgetSeconds) return {};
  return invalid(fmt::format("the budget is {} s, must be at most {} on another user's scheduler",
                             spec.seconds(), kMostBudgetSeconds),
                 hint);
}

Status check_tuned(const v1::JobSpec& spec) {
  if (spec.ByteSizeLong() <= kTunedSpecBytes) return {};
  return invalid(fmt::format("the job takes {} bytes to describe, a tuner's must take at most {}",
                             spec.ByteSizeLong(), kTunedSpecBytes));
}

Status check_tuned_kinds(const Kinds& kinds) {
  if (kinds.size() <= kTunedKinds) return {};
  return invalid(fmt::format("the job has {} kinds of stages, a tuner's may have at most {}",
                             kinds.size(), kTunedKinds));
}

v1::Ended within_limits(v1::Ended ended) {
  if (ended.result_json().size() > wire::kLargestReport) {
    return without_report(std::move(ended),
                          fmt::format("at most {} are kept", wire::kLargestReport));
  }
  ended.set_reason(cut_text(ended.reason(), wire::kLongestText));
  return ended;
}

v1::Ended without_report(v1::Ended ended, const std::string& why) {
  const std::string reason =
      fmt::format("{}{}its report of {} bytes was left out, {}", ended.reason(),
                  ended.reason().empty() ? "" : "; ", ended.result_json().size(), why);
  ended.clear_result_json();
  ended.set_reason(cut_text(reason, wire::kLongestText));
  return ended;
}

Status check_kinds(const Kinds& kinds) {
  if (kinds.size() > wire::kMostKinds) {
    return invalid(fmt::format("the job has {} kinds of stages, may have at most {}", kinds.size(),
                               wire::kMostKinds));
  }
  for (const v1::StageKind& kind : kinds) {
    if (const std::size_t longest = std::max(kind.name().size(), kind.pool().size());
        longest > wire::kLongestName) {
      return invalid(fmt::format("the name of a kind of stages has {} bytes, must have at most {}",
                                 longest, wire::kLongestName));
    }
  }
  return check_kind_numbers(kinds);
}

Status check_kind_numbers(const Kinds& kinds) {
  for (const v1::StageKind& kind : kinds) {
    if (!is_within(kind.usual_seconds(), kMostSeconds)) {
      return invalid(fmt::format("stages '{}' usually take {} s, must be from 0 to {}", kind.name(),
                                 kind.usual_seconds(), kMostSeconds));
    }
    const bool unknown = std::isfinite(kind.left()) && kind.left() < 0;
    if (!unknown && !is_within(kind.left(), kMostStages)) {
      return invalid(fmt::format("of stages '{}' {} are to come, must be at most {}", kind.name(),
                                 kind.left(), kMostStages));
    }
  }
  return {};
}

Status check_finished(const v1::Finished& finished) {
  if (!v1::StageEnd_IsValid(finished.end())) {
    return invalid(fmt::format("there is no end {} of a stage", int(finished.end())));
  }
  if (!is_within(finished.seconds(), kMostSeconds)) {
    return invalid(
        fmt::format("the stage took {} s, must be from 0 to {}", finished.seconds(), kMostSeconds));
  }
  return {};
}

Status check_wish(v1::Wish wish) {
  if (v1::Wish_IsValid(wish)) return {};
  return invalid(fmt::format("there is no wish {}", int(wish)));
}

bool looks_like_id(const std::string& name) {
  return name.size() > 1 && name[0] == 'j' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace attune::jobs
