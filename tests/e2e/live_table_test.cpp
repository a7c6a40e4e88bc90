// What a person at a terminal sees of a tuning run, and what a program that reads its log does.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_directory_testing.h"
#include "tests/support/process.h"

namespace attune {
namespace {

using Json = nlohmann::json;

struct Seen {
  int status = 0;
  std::string text;  // all that came to the terminal
};

// Runs the program at a terminal of 60 columns and 8 rows; a signal is sent when the text that it
// waits for has been seen.
Seen at_terminal(std::vector<std::string> words, const std::string& wait_for = {}) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  winsize size = {};
  size.ws_col = 60;
  size.ws_row = 8;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  Seen seen;
  bool sent = wait_for.empty();
  std::array<char, 4096> piece;
  for (ssize_t count; (count = read(terminal, piece.data(), piece.size())) > 0;) {
    seen.text.append(piece.data(), static_cast<std::size_t>(count));
    if (!sent && seen.text.find(wait_for) != std::string::npos) {
      kill(child, SIGINT);
      sent = true;
    }
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  seen.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return seen;
}

class LiveTable : public ::testing::Test {
 protected:
  std::vector<std::string> tune(std::vector<std::string> more) const {
    std::vector<std::string> words = {test::attune_program(),
                                      "tune",
                                      "matmul:m=24,n=32,k=16",
                                      "--threads",
                                      "1",
                                      "--records",
                                      directory_.file("records.db")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<Json> events(const std::string& path) const {
    std::ifstream file(path);
    std::vector<Json> found;
    for (std::string line; std::getline(file, line);) {
      found.push_back(Json::parse(line, nullptr, false));
    }
    return found;
  }
  test::TemporaryDirectory directory_;
};

TEST_F(LiveTable, IsDrawnInPlaceAndGoesAtTheEnd) {
  const Seen seen = at_terminal(tune({"--trials", "60"}));
  EXPECT_EQ(seen.status, 0) << seen.text;
  EXPECT_NE(seen.text.find("task "), std::string::npos);
  EXPECT_NE(seen.text.find("/60 trials"), std::string::npos);
  // Three lines: the cursor goes up by as many, and what was drawn last is taken away.
  EXPECT_NE(seen.text.find("\r\033[3A"), std::string::npos);
  EXPECT_NE(seen.text.find("\r\033[3A\033[J"), std::string::npos);
  EXPECT_EQ(seen.text.find("\033[?25l"), std::string::npos) << "the cursor is never hidden";
}

TEST_F(LiveTable, CtrlCLeavesTheTerminalInOrder) {
  const Seen seen = at_terminal(tune({"--seconds", "300"}), "gain");
  EXPECT_EQ(seen.status, 130) << seen.text;
  EXPECT_NE(seen.text.find("stopped; go on with: attune tune"), std::string::npos) << seen.text;
  EXPECT_EQ(seen.text.find("\033[?25l"), std::string::npos);
}

TEST_F(LiveTable, PipesGetPlainLines) {
  const test::ProcessResult result = test::run_process(tune({"--trials", "12"}));
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_EQ(result.errors.find('\033'), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("/12 trials"), std::string::npos) << result.errors;
}

TEST_F(LiveTable, TheLogTellsTheWholeRun) {
  const std::string log = directory_.file("run.jsonl");
  const test::ProcessResult result = test::run_process(tune({"--trials", "12", "--log", log}));
  EXPECT_EQ(result.status, 0) << result.errors;
  const std::vector<Json> first = events(log);
  ASSERT_GT(first.size(), 6U);
  EXPECT_EQ(first.front().at("event"), "begin");
  EXPECT_EQ(first.front().at("model"), "matmul:m=24,n=32,k=16");
  EXPECT_EQ(first.back().at("event"), "end");
  EXPECT_EQ(first.back().at("trials"), 12);
  std::map<std::string, int> count;
  double last = 0;
  for (const Json& event : first) {
    ++count[event.at("event").get<std::string>()];
    EXPECT_GE(event.at("seconds").get<double>(), last);
    last = event.at("seconds").get<double>();
  }
  EXPECT_GE(count["stage"], 6);
  EXPECT_GE(count["best"], 1);
  EXPECT_EQ(count["closing"], 1);
  EXPECT_EQ(count["settled"], 1);
  // The next run goes on in the same file.
  EXPECT_EQ(test::run_process(tune({"--trials", "12", "--log", log})).status, 0);
  EXPECT_GT(events(log).size(), first.size() + 6);
}

}  // namespace
}  // namespace attune
