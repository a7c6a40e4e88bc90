// What the worker of a job says of its stages; the scheduler hears it through a Link.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::worker {

// One kind of stage of a job.
struct KindOfStage {
  std::string name = {};
  std::string pool = "host";  // or the key of a kind of device
  int amount = 1;             // units of the pool
  double usual_seconds = 0;
  double left = -1;  // how many are to come; negative: not known
};

// A job in one of its epochs: as long as it is this worker's.
struct Holding {
  std::string job = {};
  std::int64_t epoch = 0;
  friend bool operator==(const Holding&, const Holding&) = default;
};

enum class StageEnd { Completed, Disturbed, Broken, Withdrawn };

class StageLine {
 public:
  virtual ~StageLine() = default;
  // None of these waits; they are said in this order.
  virtual void say_kinds(const Holding& holding, const std::vector<KindOfStage>& kinds) = 0;
  virtual void offer(const Holding& holding, std::int64_t stage, int kind) = 0;
  virtual void finished(const Holding& holding, std::int64_t stage, double seconds, StageEnd end,
                        const std::string& message) = 0;
};

}  // namespace attune::worker
