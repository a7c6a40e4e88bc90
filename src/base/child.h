// A fork of this process that computes an answer: how it is started, read and waited for.
#pragma once

#include <sys/types.h>

#include "base/isolated.h"

namespace attune {

struct Child {
  pid_t pid = -1;
  int answer = -1;  // the reading end of its pipe
  int errors = -1;  // what it wrote to standard error, if that is kept
  Bytes read = {};
};

// `keep_errors`: its standard error goes to a file in memory instead.
Result<Child> start_child(const std::function<Result<Bytes>()>& work, bool keep_errors);

// Reads what is there, waiting for something if need be; false at the end of the answer.
bool read_some(Child& child);

// Waits for the end of a child whose answer was read to the end. `what` begins the error after a
// crash: "WHAT crashed: …".
Result<Bytes> finish(Child& child, const std::string& what);

}  // namespace attune
