// What all calls of one service have in common, whoever makes them.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

#include "fleet/server/calls/disk_work.h"
#include "fleet/server/event_loop.h"
#include "fleet/server/service.h"

namespace attune::server {

class WorkStream;
class WatchStream;

// Who makes a call. Where a connection is known to be of one user it is always that one; where each
// call proves it (by a certificate), the call is looked at.
using WhoCalls = std::function<jobs::Caller(const grpc::CallbackServerContext&)>;

// What one user has under way.
struct CallsOfAUser {
  int calls = 0;     // of all kinds
  int streams = 0;   // of these those that last
  int watchers = 0;  // of these those that watch
};

struct CallState {
  ServiceOptions options;
  std::uint32_t uid = 0;  // the scheduler's user
  EventLoop* loop = nullptr;
  DiskWork reads;
  DiskWork files;  // that are sent and fetched: a disk that is slow with them holds up nothing else
  std::atomic<std::uint64_t> next_id = 1;
  std::mutex mutex;  // guards what follows
  std::condition_variable gone;
  std::unordered_map<jobs::WorkerId, WorkStream*> workers;
  std::unordered_map<std::uint64_t, WatchStream*> watchers;
  std::map<std::uint32_t, CallsOfAUser> users;  // who has something under way
  int calls = 0, answers = 0;  // under way, and those of them that came before the end began
  bool closing = false;
};

// Counts a call while it is under way. Those who asked for an answer before the server began to
// close get it; streams end when it does, however slow the other end is.
class UnderWay {
 public:
  // A pause is of a stream, which counts by itself.
  enum class Kind { Answer, Stream, Watcher, Pause };
  UnderWay(CallState& state, jobs::Caller caller, Kind kind);
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  const jobs::Caller& caller() const { return caller_; }
  bool in_time() const { return in_time_; }
  // Whether its user may have as much under way as there was with it.
  Status check() const;

 private:
  void count(int change);

  CallState& state_;
  const jobs::Caller caller_;
  const Kind kind_;
  bool in_time_ = false, answer_ = false;
  CallsOfAUser with_it_;
};

// Calls of one user whose answers wait until the disk has what they changed: so many there may be,
// and so much memory may what was asked and is to be answered take. A disk that stands still is not
// asked for more.
class Unanswered {
 public:
  static constexpr int kMostCalls = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // One of them, for as long as it waits.
  class Place {
   public:
    explicit Place(Unanswered& all) : all_(all) { all_.calls_ += 1; }
    ~Place() {
      all_.calls_ -= 1;
      all_.bytes_ -= bytes_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    void hold(std::size_t bytes) {
      bytes_ += bytes;
      all_.bytes_ += bytes;
    }
    // The sentence for a call that is one too many, or that finds the memory taken by others.
    Status check(const std::string& user) const;
    Status check_memory(const std::string& user) const;

   private:
    Unanswered& all_;
    std::size_t bytes_ = 0;
  };

 private:
  std::atomic<int> calls_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
};

inline grpc::Status ending() {
  return {grpc::StatusCode::UNAVAILABLE, "the scheduler is about to end"};
}

}  // namespace attune::server
