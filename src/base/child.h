// A fork of this process that computes an answer: how it is started, read and waited for. It leads
// a group of its own, holds nothing open of what this process has open, and ends with it.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/cage/control_group.h"
#include "base/isolated.h"

namespace attune {

// Where a child that is about to be ended for a system call notes which one.
struct CallNote;

struct Child {
  pid_t pid = -1;
  int answer = -1;  // the reading end of its pipe
  int errors = -1;  // what it wrote to standard error
  CallNote* note = nullptr;
  std::unique_ptr<ControlGroup> group = {};  // that it is in; null: none of its own
  Bytes read = {};
};

// `memory_bytes`: see IsolationLimits. `group`: it enters that before it begins.
Result<Child> start_child(const std::function<Result<Bytes>()>& work,
                          std::int64_t memory_bytes = -1,
                          std::unique_ptr<ControlGroup> group = nullptr);

// Reads what is there, waiting a moment for something if need be; false at the end of the answer.
bool read_some(Child& child);
// Whether it has ended and left nothing to be read, though others may hold its pipe open.
bool is_over(const Child& child);

// Waits for the end of a child whose answer was read to the end. `what` begins the error after a
// crash: "WHAT crashed: …".
Result<Bytes> finish(Child& child, const std::string& what);

// Ends it, whatever it does.
void abandon(Child& child);

}  // namespace attune
