#include "base/isolated.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/cage/cage.h"
#include "base/child.h"
#include "base/clock.h"

namespace attune {
namespace {

// What a child has taken beyond its limits; empty: nothing.
std::string excess(const Child& child, double seconds_left, const IsolationLimits& limits) {
  if (seconds_left <= 0) return fmt::format("took more than {:g} seconds", limits.seconds);
  if (child.read.size() <= limits.answer_bytes) return {};
  return fmt::format("answered with more than {} bytes", limits.answer_bytes);
}

// Where the system has them: it costs some milliseconds, so it is for children that are few.
std::unique_ptr<ControlGroup> group_for(const IsolationLimits& limits) {
  constexpr std::int64_t kMostProcesses = 4096;  // and threads
  auto group = ControlGroup::make();
  if (!group.ok()) return nullptr;
  const std::int64_t memory_bytes =
      limits.memory_bytes < 0 ? available_memory_bytes().value_or(-1) : limits.memory_bytes;
  const Status limited =
      (*group)->limit({.memory_bytes = memory_bytes, .processes = kMostProcesses});
  return limited.ok() ? std::move(*group) : nullptr;
}

// As start_child() takes it.
std::int64_t address_bytes(const IsolationLimits& limits) {
  constexpr std::int64_t kAny = std::int64_t{1} << 60;
  return limits.limits_addresses ? limits.memory_bytes : kAny;
}

// The children that run, and the answers that wait for those before them.
class Crowd {
 public:
  explicit Crowd(const IsolatedWork& all) : all_(all) {}
  ~Crowd() {
    for (auto& [index, running] : running_) abandon(running.child);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  Status run() {
    while (told_ < all_.count) {
      while (next_ < all_.count && running_.size() < std::max<std::size_t>(all_.at_once, 1)) {
        ATTUNE_RETURN_IF_ERROR(start(next_++));
      }
      wait();
      ATTUNE_RETURN_IF_ERROR(tell());
    }
    return {};
  }

 private:
  struct Running {
    Child child;
    std::int64_t start_ns = 0;
  };

  Status start(std::size_t index) {
    ATTUNE_ASSIGN(Child child,
                  start_child([&] { return all_.work(index); }, address_bytes(all_.limits)));
    running_[index] = {std::move(child), clock_.now_ns()};
    return {};
  }

  double left(const Running& running) const {
    return all_.limits.seconds - seconds_between(running.start_ns, clock_.now_ns());
  }

  // Until some child says something, has ended or has no time left, or for a moment.
  void wait() {
    std::vector<pollfd> descriptors;
    std::vector<std::size_t> indices;
    double seconds = 0.2;  // then it is asked who has ended without a word
    for (const auto& [index, running] : running_) {
      descriptors.push_back({running.child.answer, POLLIN, 0});
      indices.push_back(index);
      seconds = std::min(seconds, left(running));
    }
    const int milliseconds = static_cast<int>(std::max(seconds, 0.0) * 1e3) + 1;
    (void)::poll(descriptors.data(), descriptors.size(), milliseconds);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      Running& running = running_.at(indices[i]);
      const bool said = descriptors[i].revents != 0;
      if (said ? !read_some(running.child) : is_over(running.child)) {
        answers_.emplace(indices[i], finish(running.child, "it"));
      } else if (const std::string reason = excess(running.child, left(running), all_.limits);
                 !reason.empty()) {
        abandon(running.child);
        answers_.emplace(indices[i], Error{ErrorCode::Exhausted, "it " + reason, {}});
      }
      if (answers_.count(indices[i]) != 0) running_.erase(indices[i]);
    }
  }

  Status tell() {
    for (auto next = answers_.find(told_); next != answers_.end(); next = answers_.find(told_)) {
      ATTUNE_RETURN_IF_ERROR(all_.done(told_, next->second));
      answers_.erase(next);
      ++told_;
    }
    return {};
  }

  const IsolatedWork& all_;
  const SteadyClock clock_;
  std::map<std::size_t, Running> running_;
  std::map<std::size_t, Result<Bytes>> answers_;
  std::size_t next_ = 0, told_ = 0;
};

}  // namespace

Result<Bytes> run_isolated(const std::string& what, const std::function<Result<Bytes>()>& work,
                           const IsolationLimits& limits) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  ATTUNE_ASSIGN(Child child, start_child(work, address_bytes(limits), group_for(limits)));
  do {
    const double left = limits.seconds - seconds_between(start, clock.now_ns());
    if (const std::string reason = excess(child, left, limits); !reason.empty()) {
      abandon(child);
      return Error{ErrorCode::Exhausted, what + " " + reason,
                   left <= 0 ? "give it more time, by --timeout where the command has that" : ""};
    }
  } while (read_some(child));
  return finish(child, what);
}

Status run_isolated(const IsolatedWork& all) { return Crowd(all).run(); }

}  // namespace attune
