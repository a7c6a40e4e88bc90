// What a session begins with: results that its search is told of, and schedules to try first.
#include <algorithm>
#include <set>

#include "tuner/session/impl.h"

namespace attune::session {
namespace {

// How many of the best known schedules a new session starts from.
constexpr std::size_t kKnownFirst = 4;
// How many schedules that did well elsewhere it tries right after those: of what ships with the
// program, and of what the user brought.
constexpr std::size_t kHintsFirst = 4;
// So many are looked at: some may be of algorithms that do not compete.
constexpr std::size_t kLookedAt = 64;
constexpr std::size_t kKnownResults = 5000;

}  // namespace

Status Session::Impl::learn_history() {
  auto known = context_.store.list({.task = task_.key, .target = target_, .limit = kKnownResults});
  if (!known.ok()) return known.error();
  std::vector<space::Candidate> tried;
  std::reverse(known->begin(), known->end());  // oldest first
  for (const records::Record& record : *known) {
    if (record.weights != options_.weights || is_lost(record.outcome)) continue;
    auto trace = schedule::parse_trace(record.trace);
    if (!trace.ok()) continue;  // of another version
    tried.push_back({.trace = std::move(*trace),
                     .trace_hash = record.trace_hash,
                     .time_us = observed_time(record.outcome)});
  }
  if (!tried.empty()) search_->update(tried);
  return {};
}

// The task may have other algorithms than this session may choose.
bool Session::Impl::competes(const schedule::Trace& trace) const {
  const auto algorithm = algorithm_of(task_, trace);
  return algorithm.ok() && (*algorithm)->competes;
}

// The best on record.
Result<std::vector<schedule::Trace>> Session::Impl::known_traces() {
  ATTUNE_ASSIGN(
      const std::vector<records::Record> known,
      context_.store.top({.task_key = task_.key, .target = target_, .weights = options_.weights},
                         kLookedAt));
  std::vector<schedule::Trace> traces;
  for (const records::Record& record : known) {
    if (traces.size() == kKnownFirst) break;
    auto trace = schedule::parse_trace(record.trace);
    if (trace.ok() && competes(*trace)) traces.push_back(std::move(*trace));
  }
  return traces;
}

Result<std::vector<schedule::Trace>> Session::Impl::hinted_traces() {
  ATTUNE_ASSIGN(const std::vector<records::Hint> hints,
                context_.store.hints({.task = task_.key, .limit = kLookedAt}));
  std::vector<schedule::Trace> traces;
  std::size_t shipped = 0, others = 0;
  for (const records::Hint& hint : hints) {
    std::size_t& taken = hint.source == records::kShippedSource ? shipped : others;
    if (taken == kHintsFirst) continue;
    auto trace = schedule::parse_trace(hint.trace);
    if (!trace.ok() || !competes(*trace)) continue;
    ++taken;
    traces.push_back(std::move(*trace));
  }
  return traces;
}

// Each once: the default, the best on record, hints of the task, hints of others like it.
Result<std::vector<schedule::Trace>> Session::Impl::first_traces() {
  std::vector<schedule::Trace> traces;
  std::set<std::uint64_t> seen;
  const auto add = [&](const std::vector<schedule::Trace>& more) {
    for (const schedule::Trace& trace : more) {
      if (seen.insert(schedule::hash(trace)).second) traces.push_back(trace);
    }
  };
  add({default_trace_});
  if (!options_.use_history) return traces;
  ATTUNE_RETURN_IF_ERROR(learn_history());
  ATTUNE_ASSIGN(const std::vector<schedule::Trace> known, known_traces());
  add(known);
  ATTUNE_ASSIGN(const std::vector<schedule::Trace> hinted, hinted_traces());
  add(hinted);
  add(options_.hints);
  return traces;
}

}  // namespace attune::session
