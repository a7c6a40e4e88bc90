// Jobs that wait for a worker, by the device that they need: small facts side by side, as all of
// them are ranked whenever a worker is free.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fleet/jobs/scheduler/experience.h"
#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

struct WaitingJob {
  std::size_t position = 0;  // in the book
  JobIndex index = kNoJob;   // of the scheduler
  Expectation expected = {};
};

class WaitingJobs {
 public:
  using List = std::vector<WaitingJob>;

  // One that does not wait yet.
  void add(const std::string& device, WaitingJob job) {
    List& list = lists_[device];
    places_[job.position] = {device, list.size()};
    list.push_back(std::move(job));
  }

  void remove(std::size_t position) {
    const auto found = places_.find(position);
    if (found == places_.end()) return;
    const Place place = std::move(found->second);
    places_.erase(found);
    const auto list = lists_.find(place.device);
    std::swap(list->second[place.slot], list->second.back());
    list->second.pop_back();
    if (list->second.empty()) {
      lists_.erase(list);
    } else if (place.slot < list->second.size()) {
      places_.at(list->second[place.slot].position).slot = place.slot;
    }
  }

  // Those that need this device, in no order.
  const List& of(const std::string& device) const {
    static const List none;
    const auto found = lists_.find(device);
    return found == lists_.end() ? none : found->second;
  }
  const std::map<std::string, List>& by_device() const { return lists_; }
  bool empty() const { return places_.empty(); }
  bool has(std::size_t position) const { return places_.count(position) != 0; }
  // Null for one that does not wait.
  const WaitingJob* find(std::size_t position) const {
    const auto found = places_.find(position);
    if (found == places_.end()) return nullptr;
    return &lists_.at(found->second.device)[found->second.slot];
  }

 private:
  struct Place {
    std::string device = {};
    std::size_t slot = 0;
  };
  std::map<std::string, List> lists_;  // none is empty
  std::unordered_map<std::size_t, Place> places_;
};

}  // namespace attune::jobs
