// What a worker said and the scheduler may not have written down. When a line broke and was mended,
// it is said again: the scheduler may be another one by then, which knows what was acknowledged and
// no more.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/wire/jobs.pb.h"

namespace attune::worker {

class Pending {
 public:
  void said(const v1::FromWorker& message);
  void heard(const v1::ToWorker& message);

  // Jobs that are this worker's, as far as it knows.
  std::vector<v1::Holding> holdings() const;
  // Nothing would be lost by beginning anew.
  bool empty() const { return jobs_.empty(); }
  // What to say again, after a hello with the holdings.
  std::vector<v1::FromWorker> again() const;

 private:
  struct Job {
    std::optional<v1::FromWorker> kinds, progress, ended;  // the last of each
    std::map<std::int64_t, v1::FromWorker> offers;         // not finished, by stage
    std::deque<v1::FromWorker> results;                    // not known, in their order
  };
  using Key = std::pair<std::string, std::int64_t>;  // job and epoch
  template <typename Message>
  Job* find(const Message& message);

  std::map<Key, Job> jobs_;
};

}  // namespace attune::worker
