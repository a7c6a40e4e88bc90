// Whoever says to be a worker of the scheduler and is none.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory_testing.h"
#include "base/version.h"
#include "fleet/server/worker_connection.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tests/support/second_user.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The process with exactly this command line, which everybody can see; 0: there is none.
int process_of(const std::vector<std::string>& command) {
  std::string wanted;
  for (const std::string& word : command) wanted += word + '\0';
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (line == wanted) return std::atoi(entry.path().filename().c_str());
  }
  return 0;
}

// A stream that claims to be a worker of the scheduler's and closes.
TEST(HostileWorkers, DoNotGetRealOnesKilled) {
  ATTUNE_NEEDS_SECOND_USER();
  const test::TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  const std::string state = directory.file("state");
  test::BackgroundProcess scheduler({test::attune_program(), "scheduler", "--workers", "1",
                                     "--share", test::kNobodysGroup, "--state", state},
                                    {{"XDG_DATA_HOME", directory.file("data")}});
  ASSERT_TRUE(scheduler.wait_for_error_text("serving"));
  const auto worker = [&] {
    return process_of({test::attune_program(), "worker", "--state", state});
  };
  int pid = 0;
  while ((pid = worker()) == 0) ::usleep(10'000);
  EXPECT_EQ(test::act_as_nobody([&] {
              for (const std::string& token : {std::string(), std::to_string(pid)}) {
                server::WorkerConnection connection(state, version(), token);
                v1::ToWorker refused;
                (void)connection.read(refused);
                connection.cut();
              }
              return "done";
            }),
            "done");
  // Its environment, where the token was, is not for others either.
  EXPECT_EQ(test::act_as_nobody([&] {
              return ::open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY) < 0 ? "refused"
                                                                                        : "opened";
            }),
            "refused");
  EXPECT_EQ(worker(), pid) << "it lives";
  scheduler.send_signal(SIGTERM);
  EXPECT_EQ(scheduler.finish().status, 0);
}

}  // namespace
}  // namespace attune
