// What a book wants done in the world.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/jobs/book/access.h"
#include "fleet/jobs/book/rows.h"

namespace attune::jobs {

using WorkerId = std::uint64_t;  // of one connection; never used again

// What a worker's connection proved before anything was heard over it.
struct Pass {
  Caller caller = {};
  bool local = false;                     // a process that the server may kill
  std::optional<Standing> by_token = {};  // Worker or Tuner; none: it had no good token
};

struct Message {
  WorkerId worker = 0;
  v1::ToWorker what = {};
  bool acknowledges = false;  // what is written must be on the disk before it goes out
};

struct Effects {
  // Processes to end. Until it is said that one has, nobody else gets what it held.
  std::vector<WorkerId> kill;
  std::vector<Message> messages;
  std::vector<WorkerId> close;  // connections to end, after the messages
  std::vector<JobRow> jobs;     // to write
  std::vector<StageRow> stages;
  std::vector<std::string> notes;       // lines for the person who started the scheduler
  std::vector<ForgottenJob> forgotten;  // to remove, with their stages
};

}  // namespace attune::jobs
