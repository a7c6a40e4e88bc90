// Default schedules, each chosen once: several parts of a run ask for the same ones. Whoever begins
// a run makes this and hands it down.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "compiler/model/schedules/schedules.h"

namespace attune::model {

class DefaultSchedules {
 public:
  // From any thread. Resolved targets are told apart by their text: whoever changes facts of one
  // makes another of these.
  Schedule of(const graph::Task& task, const target::Target& target, const Algorithms& algorithms,
              bool cold_weights = false);

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  std::map<Key, Schedule> schedules_;  // by task, algorithms, target, weights
};

}  // namespace attune::model
