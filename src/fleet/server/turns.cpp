#include "fleet/server/turns.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attune::server {

Turns::Turns(jobs::Book book, double lease_seconds, double now)
    : book_(std::move(book)),
      lease_seconds_(lease_seconds),
      clock_(now, tick_seconds_of(lease_seconds)) {}

Turns::Decision Turns::take(const std::vector<Event>& events, double now,
                            const Condition& condition) {
  const bool disk_is_slow = condition.disk_busy_seconds > slow_write_seconds_of(lease_seconds_);
  const double stalled = clock_.stalled_seconds(now, condition.serving && !disk_is_slow);
  if (stalled > 0) book_.stood_still(stalled);
  Turn turn{.book = book_, .now = now};
  for (const Event& event : events) event(turn);
  book_.time_passed(now);
  Decision decision{.effects = book_.settle(now),
                    .waiting = std::move(turn.waiting),
                    .folders = std::move(turn.folders)};
  decision.changed =
      turn.changed || !decision.effects.jobs.empty() || !decision.effects.messages.empty();
  return decision;
}

double Turns::next_at(double now) const {
  const double deadline = book_.next_deadline();
  if (std::isinf(deadline)) return deadline;
  return std::min(deadline, now + tick_seconds_of(lease_seconds_));
}

}  // namespace attune::server
