// A scheduler that schedules nothing: it remembers jobs, does as it is told, and says what a test
// wants it to say. For tests of what talks to one.
#pragma once

#include <memory>
#include <string>

#include "base/temporary_directory_testing.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::client {

class FakeScheduler {
 public:
  // Serves a state directory of its own, which goes with it.
  FakeScheduler();
  ~FakeScheduler();
  FakeScheduler(const FakeScheduler&) = delete;
  FakeScheduler& operator=(const FakeScheduler&) = delete;

  const std::string& state() const { return state_; }
  // From now on, to those who watch at once.
  void say(const v1::Snapshot& snapshot);
  // Goes away as a killed one does, and comes back.
  void stop();
  void start();

 private:
  struct Service;
  test::TemporaryDirectory folder_;
  std::string state_ = folder_.path().string();
  std::unique_ptr<Service> service_;
};

}  // namespace attune::client
