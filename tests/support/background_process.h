// A program that a test starts, watches and may end before it is done.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/process.h"

namespace attune::test {

class BackgroundProcess {
 public:
  BackgroundProcess(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment);
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  // Waits until standard error holds the text; false when the program ended without it.
  bool wait_for_error_text(std::string_view text);
  void send_signal(int number) const;
  // Waits for the end.
  ProcessResult finish();

 private:
  pid_t child_ = -1;
  int output_ = -1;  // an unnamed file
  int errors_ = -1;  // the reading end of a pipe
  std::string seen_;
};

}  // namespace attune::test
