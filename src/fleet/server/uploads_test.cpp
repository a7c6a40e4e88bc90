#include "fleet/server/uploads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/book/access.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;

v1::FilePart part(const std::string& name, const std::string& data) {
  v1::FilePart made;
  made.set_name(name);
  made.set_data(data);
  return made;
}

TEST(Upload, BecomesPartOfItsJob) {
  const test::TemporaryDirectory state;
  auto upload = Upload::begin(state.path(), 7);
  ASSERT_TRUE(upload.ok()) << upload.error().message;
  ASSERT_TRUE(upload->add(part("net.onnx", "ab")).ok());
  ASSERT_TRUE(upload->add(part("", "cd")).ok());
  ASSERT_TRUE(upload->add(part("weights/w.bin", "ef")).ok());
  const auto name = upload->finish();
  ASSERT_TRUE(name.ok());
  EXPECT_TRUE(jobs::is_upload_of(7, *name)) << *name;
  EXPECT_TRUE(has_upload(state.path(), *name));
  const auto folders = claim_upload(state.path(), *name, "j3");
  ASSERT_TRUE(folders.ok());
  std::vector<std::string> to_sync;
  for (const std::string& each : *folders) to_sync.push_back(fs::path(each).lexically_normal());
  const std::string top = state.path();
  EXPECT_EQ(to_sync,
            (std::vector<std::string>{top + "/jobs/j3", top + "/jobs/", top, top + "/uploads/"}));
  upload->keep();
  EXPECT_FALSE(has_upload(state.path(), *name));
  EXPECT_EQ(state.read("jobs/j3/" + *name + "/net.onnx"), "abcd");
  EXPECT_EQ(state.read("jobs/j3/" + *name + "/weights/w.bin"), "ef");
}

TEST(Upload, ThatIsNotFinishedLeavesNothing) {
  const test::TemporaryDirectory state;
  {
    auto upload = Upload::begin(state.path(), 7);
    ASSERT_TRUE(upload.ok() && upload->add(part("x", "y")).ok());
  }
  EXPECT_TRUE(fs::is_empty(wire::upload_path(state.path(), "")));
}

// Its sender never heard the name, as the connection broke.
TEST(Upload, ThatNobodyHeardOfLeavesNothing) {
  const test::TemporaryDirectory state;
  std::string name;
  {
    auto upload = Upload::begin(state.path(), 7);
    ASSERT_TRUE(upload.ok() && upload->add(part("x", "y")).ok());
    name = *upload->finish();
    EXPECT_TRUE(has_upload(state.path(), name)) << "a job may come for it";
  }
  EXPECT_FALSE(has_upload(state.path(), name));
}

// Its folder is as old as its first file; what counts is when something was written last.
TEST(Upload, UnderWayForLongIsNotGivenUp) {
  const test::TemporaryDirectory state;
  auto slow = Upload::begin(state.path(), 7);
  ASSERT_TRUE(slow->add(part("x", "y")).ok());
  const fs::path folder = fs::directory_iterator(wire::upload_path(state.path(), ""))->path();
  fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(Upload::begin(state.path(), 7).ok());
  ASSERT_TRUE(slow->add(part("", "z")).ok());
  EXPECT_TRUE(slow->finish().ok());
  EXPECT_TRUE(fs::exists(folder));
}

TEST(Upload, ThatWasGivenUpIsNotFinished) {
  const test::TemporaryDirectory state;
  auto stuck = Upload::begin(state.path(), 7);
  ASSERT_TRUE(stuck->add(part("x", "y")).ok());
  ASSERT_TRUE(Upload::begin(state.path(), 7, {.waiting_seconds = 0}).ok());
  EXPECT_EQ(stuck->finish().error().message,
            "nothing was sent for too long, and the upload was given up");
}

TEST(Upload, IsBounded) {
  const test::TemporaryDirectory state;
  auto upload = Upload::begin(state.path(), 7, {.bytes = 4, .files = 2});
  ASSERT_TRUE(upload.ok());
  EXPECT_EQ(upload->add(part("", "x")).error().message,
            "the first part that is sent names no file");
  ASSERT_TRUE(upload->add(part("x", "abcd")).ok());
  EXPECT_EQ(upload->add(part("", "e")).error().message, "more than 0 MiB are sent for one job");
  ASSERT_TRUE(upload->add(part("y", "")).error().message.starts_with("more than 0 MiB"));
  EXPECT_EQ(upload->add(part("z", "")).error().message, "more than 2 files are sent for one job");
  EXPECT_EQ(Upload::begin(state.path(), 7, {.waiting = 1}).error().message,
            "1 uploads of this user wait for their jobs already");
  EXPECT_TRUE(Upload::begin(state.path(), 77, {.waiting = 1}).ok()) << "another user";
  auto full = Upload::begin(state.path(), 8, {.left_on_disk = ~std::uint64_t{0}});
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->add(part("x", "y")).error().message,
            "the disk of the scheduler has no room for files of others");
}

TEST(Upload, WaitsBesideSoManyOfAllOtherUsers) {
  const test::TemporaryDirectory state;
  std::vector<Result<Upload>> uploads;
  for (std::uint32_t uid = ::geteuid() + 1; uploads.size() < jobs::kUploadsOfOthers; ++uid) {
    for (std::size_t i = 0; i < jobs::kUploadsOfAUser; ++i) {
      uploads.push_back(Upload::begin(state.path(), uid));
      ASSERT_TRUE(uploads.back().ok());
    }
  }
  EXPECT_EQ(Upload::begin(state.path(), 70'000).error().message,
            "64 uploads of users who share this scheduler wait for their jobs already");
  EXPECT_TRUE(Upload::begin(state.path(), ::geteuid()).ok()) << "it is its own scheduler";
}

TEST(Upload, IsForgottenAfterAWhile) {
  const test::TemporaryDirectory state;
  auto upload = Upload::begin(state.path(), 7);
  ASSERT_TRUE(upload->add(part("x", "y")).ok());
  const auto name = upload->finish();
  ASSERT_TRUE(Upload::begin(state.path(), 7, {.waiting = 1, .waiting_seconds = 0}).ok());
  EXPECT_FALSE(has_upload(state.path(), *name));
}

TEST(Results, AreThoseThatAreThere) {
  const test::TemporaryDirectory state;
  EXPECT_TRUE(results_of(state.path(), "j1").empty());
  fs::create_directories(wire::job_path(state.path(), "j1"));
  state.write("jobs/j1/records.db", "x");
  fs::create_symlink("/etc/passwd", wire::job_path(state.path(), "j1") + "/model.attune");
  EXPECT_EQ(results_of(state.path(), "j1"), std::vector<std::string>{"records.db"});
}

}  // namespace
}  // namespace attune::server
