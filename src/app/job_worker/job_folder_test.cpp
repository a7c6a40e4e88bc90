#include "app/job_worker/job_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temporary_directory_testing.h"

namespace attune::job_worker {
namespace {

const std::atomic<bool> kWanted = false;

TEST(JobFolder, IsNotWaitedForWithoutEnd) {
  const test::TemporaryDirectory place;
  const auto first = JobFolder::open(place.file("j1"), kWanted);
  ASSERT_TRUE(first.ok() && std::holds_alternative<JobFolder>(*first));
  const auto second = JobFolder::open(place.file("j1"), kWanted, 0.01);
  ASSERT_TRUE(second.ok());
  const auto* taken = std::get_if<JobFolder::Taken>(&*second);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->by, "process " + std::to_string(::getpid()));
}

TEST(JobFolder, KeepsWhatTheFirstWorkerChose) {
  const test::TemporaryDirectory place;
  for (const int wish : {4, 2}) {
    const auto opened = JobFolder::open(place.file("j1"), kWanted);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(*std::get<JobFolder>(*opened).chosen("batches", wish), 4);
  }
}

TEST(JobFolder, KeepsItsReportForTheNextWorker) {
  const test::TemporaryDirectory place;
  const auto opened = JobFolder::open(place.file("j1"), kWanted);
  ASSERT_TRUE(opened.ok());
  const auto& folder = std::get<JobFolder>(*opened);
  EXPECT_FALSE(folder.report().has_value());
  ASSERT_TRUE(folder.keep_report({.json = R"({"stopped": true})", .stopped = true}).ok());
  EXPECT_EQ(folder.report()->json, R"({"stopped": true})");
  EXPECT_TRUE(folder.report()->stopped);
  ASSERT_TRUE(folder.keep_report({.json = "{}"}).ok());
  EXPECT_FALSE(folder.report()->stopped);
}

}  // namespace
}  // namespace attune::job_worker
