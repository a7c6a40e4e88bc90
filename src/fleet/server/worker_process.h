// A worker as a process of the scheduler's: how it is started. All that may wait for a disk is done
// before it is forked.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "fleet/wire/unix_socket.h"

namespace attune::server {

struct WorkerSpec {
  std::vector<std::string> command;  // the program and its arguments
  std::string variable;              // of its environment: NAME=VALUE
  std::string log;                   // what it prints goes there
  int lock_descriptor = -1;          // that it inherits
  std::vector<int> cores = {};       // that it may use; empty: those of this process
};

struct WorkerProcess {
  int pid = -1;
  int descriptor = -1;  // readable when it has ended
};

class PreparedWorker {
 public:
  explicit PreparedWorker(WorkerSpec spec);

  // In a process group of its own; it ends with the calling thread. When memory is short the system
  // takes it before the scheduler. Nothing when the system has no more processes or files.
  std::optional<WorkerProcess> start();

 private:
  [[noreturn]] void become_worker(int parent, char* const* environment);

  WorkerSpec spec_;
  wire::Descriptor log_, null_;
  std::vector<char*> arguments_;  // ended by a null
  cpu_set_t cores_;
};

}  // namespace attune::server
