#include "fleet/server/retention/leftovers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory_testing.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void make_old(const fs::path& path, double seconds) {
  const auto age = std::chrono::duration_cast<fs::file_time_type::duration>(
      std::chrono::duration<double>(seconds));
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST(Leftovers, AFolderIsRemovedWithAllThatItHas) {
  const TemporaryDirectory state;
  const std::string folder = wire::job_path(state.path(), "j1");
  write(folder + "/records.db", "12345");
  write(folder + "/7-0123/net.onnx", "678");
  write(state.file("outside"), "kept");
  fs::create_symlink(state.file("outside"), folder + "/link");
  EXPECT_EQ(job_folders(state.path()), std::vector<std::string>{"j1"});
  EXPECT_EQ(folder_bytes(state.path(), "j1"), 8u + 4u) << "a link is as long as its file";
  EXPECT_TRUE(remove_job_folder(state.path(), "j1"));
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(state.file("outside")));
  EXPECT_TRUE(job_folders(state.path()).empty());
}

TEST(Leftovers, AFolderThatAWorkerHasIsLeft) {
  const TemporaryDirectory state;
  const std::string lock = wire::job_path(state.path(), "j1") + "/lock";
  write(lock, "");
  const int held = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_FALSE(remove_job_folder(state.path(), "j1"));
  EXPECT_TRUE(fs::exists(lock));
  ::close(held);
  EXPECT_TRUE(remove_job_folder(state.path(), "j1"));
  EXPECT_FALSE(fs::exists(lock));
}

TEST(Leftovers, UploadsOfAllUsersAreGivenUp) {
  const TemporaryDirectory state;
  for (const char* name : {"7-old", "8-old", "9-goes-on", "9-new"}) {
    write(wire::upload_path(state.path(), name) + "/model.onnx", "x");
  }
  for (const char* name : {"7-old", "8-old"}) {
    make_old(wire::upload_path(state.path(), name) + "/model.onnx", 100);
  }
  for (const char* name : {"7-old", "8-old", "9-goes-on"}) {
    make_old(wire::upload_path(state.path(), name), 100);
  }
  remove_uploads(state.path(), 50);
  EXPECT_FALSE(fs::exists(wire::upload_path(state.path(), "7-old")));
  EXPECT_FALSE(fs::exists(wire::upload_path(state.path(), "8-old")));
  EXPECT_TRUE(fs::exists(wire::upload_path(state.path(), "9-goes-on"))) << "a file is written to";
  EXPECT_TRUE(fs::exists(wire::upload_path(state.path(), "9-new")));
}

TEST(Leftovers, OfALongLogTheEndStays) {
  const TemporaryDirectory state;
  const std::string log = state.file("worker-0.log");
  const int writer = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const auto say = [&](const std::string& line) {
    ASSERT_EQ(::write(writer, line.data(), line.size()), ssize_t(line.size()));
  };
  for (int i = 0; i < 100; ++i) say("line " + std::to_string(10 + i % 90) + "\n");
  trim_logs(state.path(), 800, 1000);
  EXPECT_EQ(fs::file_size(log), 800u) << "not longer than it may be";
  say("one too many\n");
  trim_logs(state.path(), 800, 1000);
  EXPECT_EQ(fs::file_size(log), 0u);
  const std::string kept = state.read("worker-0.log.1");
  EXPECT_LE(kept.size(), 400u);
  EXPECT_TRUE(kept.starts_with("line ")) << kept.substr(0, 20);
  EXPECT_TRUE(kept.ends_with("one too many\n"));
  say("goes on\n");
  EXPECT_EQ(state.read("worker-0.log"), "goes on\n");
  ::close(writer);
}

TEST(Leftovers, LogsThatNobodyWritesToAreRemoved) {
  const TemporaryDirectory state;
  for (const char* name : {"worker-7.log", "worker-7.log.1", "worker-0.log", "scheduler.db"}) {
    write(state.file(name), "x");
    if (std::string(name) != "worker-0.log") make_old(state.file(name), 100);
  }
  trim_logs(state.path(), 800, 50);
  EXPECT_FALSE(fs::exists(state.file("worker-7.log")));
  EXPECT_FALSE(fs::exists(state.file("worker-7.log.1")));
  EXPECT_TRUE(fs::exists(state.file("worker-0.log")));
  EXPECT_TRUE(fs::exists(state.file("scheduler.db")));
}

}  // namespace
}  // namespace attune::server
