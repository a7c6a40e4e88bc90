#include "fleet/worker/connection.h"

#include <utility>

#include "fleet/wire/status.h"

namespace attune::worker {
namespace {

bool may_come_back(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

Error why_lost(const grpc::Status& status) {
  if (!status.ok()) return wire::from_status(status);
  return {ErrorCode::Io, "the scheduler ended the connection", {}};
}

}  // namespace

Connection::Connection(const std::shared_ptr<grpc::Channel>& channel, Listener& listener)
    : listener_(listener), stub_(v1::Scheduler::NewStub(channel)) {
  stub_->async()->Work(&context_, this);
  AddHold();  // writes begin outside of its calls
  StartRead(&incoming_);
  StartCall();
}

Connection::~Connection() {
  context_.TryCancel();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return over_; });
}

void Connection::send(v1::FromWorker message) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  outgoing_.push_back(std::move(message));
  if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
}

std::optional<Result<v1::Welcome>> Connection::wait_for_welcome(
    std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return welcome_ || turned_away_ || over_; });
  if (welcome_) return Result<v1::Welcome>(*welcome_);
  if (turned_away_) return Result<v1::Welcome>(*turned_away_);
  if (over_ && !may_come_back(status_)) return Result<v1::Welcome>(wire::from_status(status_));
  return std::nullopt;
}

void Connection::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  if (!ok) return;  // the reading side hears of it, too
  outgoing_.pop_front();
  if (!closed_ && !outgoing_.empty()) StartWrite(&outgoing_.front());
}

void Connection::OnReadDone(bool ok) {
  if (!ok) {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    RemoveHold();
    return;
  }
  if (!take_welcome(incoming_)) listener_.hear(incoming_);
  incoming_ = {};
  StartRead(&incoming_);
}

void Connection::OnDone(const grpc::Status& status) {
  bool tell = false;
  {
    const std::lock_guard lock(mutex_);
    tell = welcome_.has_value();
  }
  if (tell) listener_.broke(why_lost(status));
  const std::lock_guard lock(mutex_);
  status_ = status;
  over_ = true;
  changed_.notify_all();
}

// Whether the message is the answer to hello, whichever it is.
bool Connection::take_welcome(const v1::ToWorker& message) {
  const std::lock_guard lock(mutex_);
  if (welcome_ && !message.has_welcome()) return false;
  if (message.has_welcome()) welcome_ = message.welcome();
  if (message.has_refused()) {
    turned_away_ = Error{ErrorCode::Unsupported, message.refused().why(), {}};
  }
  changed_.notify_all();
  return true;
}

}  // namespace attune::worker
