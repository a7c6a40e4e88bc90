// A card that is no card, for tests of what uses the driver: memory is memory of the host,
// functions are built in and known by name, and work is done when somebody waits for it, not
// before. It refuses what a real one refuses: addresses of others, calls without a context, waiting
// within a capture, a process that was forked.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "targets/cuda/device/driver_types.h"

namespace attune::cuda {

// The handles are pointers to these.
struct CuContextState {};
struct CuModuleState {};
struct FakeLaunch {
  std::int64_t threads = 0;
  std::vector<CuAddress> arguments = {};
};
struct CuFunctionState {
  const char* name = "";
  std::size_t arguments = 0;
  void (*run)(const FakeLaunch& launch) = nullptr;  // null: it goes out of its memory
  bool waits = false;    // for the work before it; it takes an Overlap behind its arguments
  int shared_bytes = 0;  // that were asked for
};
using FakeWork = std::function<CuResult()>;
struct CuStreamState {
  std::vector<FakeWork> pending = {};
  bool capturing = false;
  std::vector<FakeWork> captured = {};
  bool ends_in_launch = false;  // what was asked for last
};
struct CuEventState {
  CuStreamState* stream = nullptr;
  std::int64_t at_ns = 0;
};
struct CuGraphState {
  std::vector<FakeWork> work = {};
};
struct CuGraphExecState {
  std::vector<FakeWork> work = {};
};

struct FakeCard {
  std::mutex mutex = {};  // of every call; tests look when nothing runs

  // As a test wants it.
  std::string name = "Fake H200";
  int major = 9, minor = 0, cards = 1, version = 12080;
  int shared_bytes = 227 << 10, resident_shared_bytes = 228 << 10;
  std::size_t memory_bytes = std::size_t{64} << 20;
  std::string failing_call = {};  // the n-th of these from now on gives `failure`
  int failing_in = 0;
  CuResult failure = kSuccess;

  // What happened.
  std::map<std::string, int> calls = {};
  pid_t started_in = 0;
  CuResult fault = kSuccess;  // after which nothing works any more
  std::int64_t now_ns = 0;
  std::map<CuAddress, std::size_t> blocks = {};  // of the card's memory
  std::size_t bytes_in_use = 0;
  std::map<const void*, std::size_t> pinned_bytes = {};  // memory of the host that it reaches
  std::int64_t last_shared_bytes = 0;                    // that a launch asked for
  std::vector<std::string> launched = {};  // in the order in which they ran: "double_all early 1"
  int things = 0;  // streams, events, graphs and modules that were not destroyed

  CuContextState context = {};

  // What a call named so comes to before it does anything.
  CuResult begin(const char* call, bool needs_context);
  bool is_own(CuAddress address, std::size_t bytes) const;
  bool is_pinned(const void* address) const;
  CuResult ask(CuStreamState* stream, FakeWork work);
  // A launch. One that may begin early and does not wait for the work before it runs before that.
  CuResult ask_launch(CuStreamState* stream, FakeWork work, bool early, bool waits);
  // Does all that was asked for.
  CuResult finish(CuStreamState* stream);
};

FakeCard& fake_card();
// The context of the calling thread.
void set_current(const CuContextState* context);

// By name; null: there is none.
CuFunctionState* fake_function(const std::string& name);

}  // namespace attune::cuda
