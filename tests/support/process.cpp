#include "tests/support/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/built_path_testing.h"
#include "base/check.h"

extern char** environ;

namespace attune::test {
namespace {

// An unnamed file that a child writes to: no pipe that could fill up.
int open_unnamed_file() {
  std::string name = "/tmp/attune_process_XXXXXX";
  const int file = mkstemp(name.data());
  CHECK(file >= 0, "cannot make a temporary file");
  unlink(name.c_str());
  return file;
}

std::string take_contents(int file) {
  std::string text;
  std::array<char, 4096> piece;
  lseek(file, 0, SEEK_SET);
  for (ssize_t size; (size = read(file, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  close(file);
  return text;
}

}  // namespace

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : added) variables.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!added.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

ProcessResult run_process(const std::vector<std::string>& command,
                          const std::map<std::string, std::string>& environment) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_with(environment);

  const int output = open_unnamed_file();
  const int errors = open_unnamed_file();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0].c_str(), &actions, nullptr,
                                  pointers_to(arguments).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  CHECK(failed == 0, "cannot start " + arguments[0]);

  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  ProcessResult result;
  result.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.output = take_contents(output);
  result.errors = take_contents(errors);
  return result;
}

std::string attune_program() { return built_path("bin/attune"); }

}  // namespace attune::test
