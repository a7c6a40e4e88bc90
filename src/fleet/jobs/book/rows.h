// What a scheduler keeps on disk of its jobs and of the stages that ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

// What is kept of a job. Of one that has not ended the state is QUEUED or PAUSED.
struct JobRow {
  std::int64_t number = 0;
  v1::Job job = {};
  std::string key = {};               // of its submission, or empty
  std::optional<v1::Wish> wish = {};  // STOP or CANCEL, asked for
  bool foreign = false;               // of another tuner, which registered it
  bool report_on_disk = false;        // of one that ended: its report was written, and is not here
  std::uint64_t report_bytes = 0;     // of that
};

// A job of which nothing is to be kept.
struct ForgottenJob {
  std::int64_t number = 0;
  std::string id = {};
};

// What is kept of a stage that ran.
struct StageRow {
  v1::Bar bar = {};
  std::int64_t epoch = 0, stage = 0;
  v1::StageEnd end = v1::COMPLETED;
};

}  // namespace attune::jobs
