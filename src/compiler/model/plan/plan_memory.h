// The buffers of a plan while it is built: which memory each value lives in, and from when to when.
#pragma once

#include <vector>

#include "runtime/format/plan.h"

namespace attune::model {

class PlanMemory {
 public:
  runtime::BufferId input(std::int64_t index, std::int64_t bytes);
  runtime::BufferId output(std::int64_t index, std::int64_t bytes);
  runtime::BufferId constant(std::int64_t offset, std::int64_t bytes);
  // Memory of the session, alive from now on until it is last touched.
  runtime::BufferId arena(std::int64_t bytes);
  // Bytes within another buffer, which lives as long as its parts.
  runtime::BufferId part(runtime::BufferId whole, std::int64_t offset, std::int64_t bytes);

  // Whether the buffer is memory of the session and no part of another.
  bool is_whole(runtime::BufferId buffer) const;
  // The buffer is read or written by the instruction that is being added.
  void touch(runtime::BufferId buffer);
  // Time passes with every instruction.
  void advance() { ++now_; }

  // Gives every arena buffer its place; the sum of what is needed goes into the plan.
  void finish(runtime::Plan& plan) const;

 private:
  runtime::BufferId add(runtime::Buffer buffer);

  struct Span {
    std::int64_t first = 0, last = 0;
    runtime::BufferId whole = runtime::kNone;  // of a part in the arena
    std::int64_t offset = 0;                   // in the whole
  };
  std::vector<runtime::Buffer> buffers_;
  std::vector<Span> spans_;  // one per buffer
  std::int64_t now_ = 0;
};

}  // namespace attune::model
