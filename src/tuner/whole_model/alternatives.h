// Which schedules of a task are tried inside the model that it is part of. A task timed by itself
// finds its data where its last call left it; in a model that is where the layer before left it,
// in the cache of one core or another. So what is about as fast by itself may differ there, most of
// all when the threads divide the work differently.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/schedules/schedules.h"
#include "compiler/schedule/trace.h"
#include "tuner/records/store.h"
#include "tuner/space/candidate.h"

namespace attune::whole_model {

// How a schedule divides its work between threads: its algorithm, the loops that run in parallel,
// and how the loops that they are made of were split.
std::string division_of_work(const schedule::Trace& trace);

// At most `most` schedules, each once: `best`, then of `fastest` (by itself, the fastest first) the
// best of each other division of work, as far as they take up to half of the places, then what is
// fastest. Only what is hardly slower than `best` is taken.
std::vector<schedule::Trace> alternatives(const schedule::Trace& best,
                                          const std::vector<space::Candidate>& fastest,
                                          std::size_t most);

struct TrySchedules {
  records::BestQuery query = {};
  records::SessionId session = 0;  // whose records count; 0: all
  model::Algorithms algorithms = {};
  std::size_t most = 1;
};

// The same of a task and what is recorded of it, as far as that still fits it.
Result<std::vector<model::Schedule>> schedules_to_try(const graph::Task& task,
                                                      const model::Schedule& best,
                                                      const TrySchedules& which,
                                                      records::Store& store);

}  // namespace attune::whole_model
