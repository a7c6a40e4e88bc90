#include "fleet/server/streams.h"

#include <iterator>
#include <utility>

#include "fleet/wire/status.h"

namespace attune::server {

// ---- a worker's connection

void WorkStream::send(const v1::ToWorker& message) {
  const std::lock_guard lock(mutex_);
  if (closing_ || finished_) return;
  if (outgoing_.size() >= kMostUnread) return context_.TryCancel();
  outgoing_.push_back(message);
  if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
}

void WorkStream::heard() {
  const std::lock_guard lock(mutex_);
  unheard_ -= 1;
  if (!waits_ || finished_ || unheard_ > kMostUnheard / 2) return;
  waits_ = false;
  StartRead(&incoming_);
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
  if (first) pass = state_.options.admit(id_, caller_, incoming_.hello().token());
  v1::FromWorker message = std::move(incoming_);
  incoming_.Clear();
  bool reads_on = true;
  {
    const std::lock_guard lock(mutex_);
    unheard_ += 1;
    waits_ = unheard_ >= kMostUnheard;
    reads_on = !waits_;
  }
  state_.loop->post([&state = state_, id = id_, first, pass = std::move(pass),
                     message = std::move(message)](Turn& turn) {
    turn.changed = turn.changed || !message.has_beat();
    if (first) turn.book.joined(id, pass, turn.now);
    turn.book.said(id, message, turn.now);
    // What it brought about waits for the disk, and so does what comes after it.
    turn.waiting.push_back([&state, id](const Status&) {
      const std::lock_guard lock(state.mutex);
      const auto found = state.workers.find(id);
      if (found != state.workers.end()) found->second->heard();
    });
  });
  if (reads_on) StartRead(&incoming_);
}

void WorkStream::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  outgoing_.pop_front();
  if (!ok) {
    outgoing_.clear();
    closing_ = true;
  }
  if (!outgoing_.empty()) return StartWrite(&outgoing_.front());
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

void WatchStream::begin(const v1::ListRequest& request) {
  job_ = request.job();
  const bool heard =
      state_.loop->watch(id_, caller_, request, [&state = state_, id = id_](auto parts) {
        const std::lock_guard lock(state.mutex);
        const auto found = state.watchers.find(id);
        if (found != state.watchers.end()) found->second->deliver(std::move(parts));
      });
  if (!heard) finish(ending());
}

void WatchStream::deliver(Result<std::vector<v1::Snapshot>> parts) {
  if (!parts.ok()) return finish(wire::to_status(parts.error()));
  if (!job_.empty() && state_.options.add_report) {
    for (v1::Job& job : *parts->front().mutable_jobs()) state_.options.add_report(job);
  }
  const std::lock_guard lock(mutex_);
  if (finished_ || cancelled_) return;
  outgoing_.assign(std::make_move_iterator(parts->begin()), std::make_move_iterator(parts->end()));
  writing_ = true;
  StartWrite(&outgoing_.front());
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
    outgoing_.pop_front();
    ok = ok && !cancelled_;
    if (ok && !outgoing_.empty()) return StartWrite(&outgoing_.front());
    outgoing_.clear();
    writing_ = false;
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
