// Runs a program as a user would, for tests of whole commands: arguments in, exit status and what
// it printed out.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace attune::test {

struct ProcessResult {
  int status = 0;  // the exit status, or 128 + the signal that ended it, as a shell says it
  std::string output;
  std::string errors;
};

// Runs command[0] with the rest as its arguments, stdin empty, and waits for it. `environment` is
// added to the environment of the test; the ctest timeout is the only limit on time.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment = {});

// For those who start programs themselves: the environment of the test as `NAME=VALUE`, with others
// added or in place of its own; and the list that the system wants, which ends with nothing.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added);
std::vector<char*> pointers_to(std::vector<std::string>& texts);

// The path of the command-line program.
std::string attune_program();

}  // namespace attune::test
