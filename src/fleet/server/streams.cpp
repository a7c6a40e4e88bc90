#include "fleet/server/streams.h"

#include <utility>

#include "base/clock.h"
#include "fleet/wire/status.h"

namespace attune::server {

// ---- a worker's connection

void WorkStream::send(const v1::ToWorker& message) {
  const std::size_t bytes = message.ByteSizeLong();
  const std::lock_guard lock(mutex_);
  if (closing_ || finished_) return;
  const bool unread = outgoing_.size() >= kMostUnread ||
                      (!outgoing_.empty() && unread_bytes_ + bytes > kMostUnreadBytes);
  if (unread) return context_.TryCancel();
  outgoing_.push_back({message, bytes});
  unread_bytes_ += bytes;
  if (outgoing_.size() == 1) StartWrite(&outgoing_.front().message);
}

void WorkStream::heard(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unheard_ -= 1;
  unheard_bytes_ -= bytes;
  if (!waits_ || unheard_ > kMostUnheard / 2 || unheard_bytes_ > kMostUnheardBytes / 2) return;
  waits_ = false;
  read_on();
}

void WorkStream::go_on() {
  const std::lock_guard lock(mutex_);
  pauses_ = false;
  read_on();
}

// With the lock, when one of the reasons to wait is gone.
void WorkStream::read_on() {
  if (!waits_ && !pauses_ && !finished_) StartRead(&incoming_);
}

// The alarm may ring when this stream is gone: it holds the service, and finds the stream by its
// number.
void WorkStream::pause(double seconds) {
  const auto holds =
      std::make_shared<UnderWay>(state_, under_way_->caller(), UnderWay::Kind::Pause);
  const auto span =
      gpr_time_from_micros(static_cast<std::int64_t>(seconds * 1e6) + 1, GPR_TIMESPAN);
  auto last = std::make_unique<grpc::Alarm>();  // the one before goes when the lock is free again
  const std::lock_guard lock(mutex_);
  alarm_.swap(last);
  alarm_->Set(span, [&state = state_, id = id_, holds](bool rings) {
    if (!rings) return;
    const std::lock_guard held(state.mutex);
    const auto found = state.workers.find(id);
    if (found != state.workers.end()) found->second->go_on();
  });
}

void WorkStream::say_that_it_left() {
  if (!joined_ || std::exchange(left_, true)) return;
  state_.loop->post([id = id_](Turn& turn) {
    turn.changed = true;
    turn.book.left(id, turn.now);
  });
}

void WorkStream::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  finish_if_idle(lock);
}

void WorkStream::finish_if_idle(std::unique_lock<std::mutex>& lock) {
  if (!closing_ || finished_ || !outgoing_.empty()) return;
  finished_ = true;
  lock.unlock();
  Finish(grpc::Status::OK);
}

void WorkStream::OnReadDone(bool ok) {
  if (!ok) {
    say_that_it_left();
    return close();
  }
  const bool first = !std::exchange(joined_, true);
  jobs::Pass pass;
  if (first) {
    pass = state_.options.admit(id_, under_way_->caller(), incoming_.hello().token());
  }
  v1::FromWorker message = std::move(incoming_);
  incoming_.Clear();
  const std::size_t bytes = message.ByteSizeLong();
  const double too_soon = rate_ == nullptr ? 0 : rate_->charge(SteadyClock().now_ns(), 1);
  bool reads_on = true;
  {
    const std::lock_guard lock(mutex_);
    unheard_ += 1;
    unheard_bytes_ += bytes;
    waits_ = unheard_ >= kMostUnheard || unheard_bytes_ >= kMostUnheardBytes;
    pauses_ = too_soon > 0;
    reads_on = !waits_ && !pauses_;
  }
  state_.loop->post([&state = state_, id = id_, first, bytes, pass = std::move(pass),
                     message = std::move(message)](Turn& turn) {
    turn.changed = turn.changed || !message.has_beat();
    if (first) turn.book.joined(id, pass, turn.now);
    turn.book.said(id, message, turn.now);
    // What it brought about waits for the disk, and so does what comes after it.
    turn.waiting.push_back([&state, id, bytes](const Status&) {
      const std::lock_guard lock(state.mutex);
      const auto found = state.workers.find(id);
      if (found != state.workers.end()) found->second->heard(bytes);
    });
  });
  if (reads_on) StartRead(&incoming_);
  if (too_soon > 0) pause(too_soon);
}

void WorkStream::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  unread_bytes_ -= outgoing_.front().bytes;
  outgoing_.pop_front();
  if (!ok) {
    outgoing_.clear();
    closing_ = true;
  }
  if (!outgoing_.empty()) return StartWrite(&outgoing_.front().message);
  finish_if_idle(lock);
}

void WorkStream::OnDone() {
  say_that_it_left();  // while it waited to be heard nothing was read
  {
    const std::lock_guard lock(state_.mutex);
    state_.workers.erase(id_);
    state_.gone.notify_all();
  }
  delete this;
}

// ---- somebody who watches

// What an ended job reports lies on the disk, for which the loop does not wait.
void WatchStream::begin(const v1::ListRequest& request) {
  const auto deliver = [&state = state_, id = id_](Result<v1::Snapshot> part) {
    const std::lock_guard lock(state.mutex);
    const auto found = state.watchers.find(id);
    if (found != state.watchers.end()) found->second->deliver(std::move(part));
  };
  const auto deliver_with_report = [&state = state_, deliver](Result<v1::Snapshot> part) {
    state.reads.add([&state, deliver, part = std::move(part)]() mutable {
      for (v1::Job& job : *part->mutable_jobs()) state.options.add_report(job);
      deliver(std::move(part));
    });
  };
  const bool one = !request.job().empty() && state_.options.add_report;
  const bool heard = state_.loop->watch(
      id_, under_way_->caller(), request,
      [one, deliver, deliver_with_report](Result<v1::Snapshot> part) {
        one&& part.ok() ? deliver_with_report(std::move(part)) : deliver(std::move(part));
      });
  if (!heard) finish(ending());
}

void WatchStream::deliver(Result<v1::Snapshot> part) {
  if (!part.ok()) return finish(wire::to_status(part.error()));
  const std::lock_guard lock(mutex_);
  if (finished_ || cancelled_) return;
  outgoing_ = std::move(*part);
  writing_ = true;
  StartWrite(&outgoing_);
}

void WatchStream::finish(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || writing_) return;
    finished_ = true;
  }
  Finish(status);
}

void WatchStream::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    outgoing_ = v1::Snapshot();  // its memory too
    writing_ = false;
    ok = ok && !cancelled_;
  }
  if (!ok) return finish(grpc::Status::CANCELLED);
  state_.loop->watcher_ready(id_);
}

// A write that is under way finishes the stream when it ends.
void WatchStream::OnCancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  finish(grpc::Status::CANCELLED);
}

void WatchStream::OnDone() {
  state_.loop->unwatch(id_);
  {
    const std::lock_guard lock(state_.mutex);
    state_.watchers.erase(id_);
    state_.gone.notify_all();
  }
  delete this;
}

}  // namespace attune::server
