#include "app/verbs/jobs/fetch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/temporary_directory_testing.h"
#include "fleet/client/fake_scheduler_testing.h"
#include "runtime/format/artifact_format.h"
#include "tuner/records/sample_records_testing.h"
#include "tuner/records/store.h"

namespace attune::verbs {
namespace {

namespace fs = std::filesystem;

const std::string kArtifact =
    std::string(runtime::format::kMagic.begin(), runtime::format::kMagic.end()) + "made";

// Whoever fetches stands in a folder of theirs, and the scheduler is somebody else's.
class Fetching : public testing::Test {
 protected:
  void SetUp() override {
    fs::current_path(home_.path());
    scheduler_.has_made({{"model.attune", kArtifact}});
  }
  void TearDown() override { fs::current_path(before_); }

  // What it says after the scheduler named the artifact so.
  std::string fetch(const std::string& output, FetchOptions options = {}) {
    v1::Snapshot snapshot;
    v1::Job& job = *snapshot.add_jobs();
    job.set_id("j1");
    job.set_state(v1::DONE);
    job.mutable_spec()->set_output(output);
    scheduler_.say(snapshot);
    options.job = "j1";
    options.records = home_.file("records.db");
    const auto report = fetch_job(options, {.state = scheduler_.state()});
    if (report.ok()) return "wrote " + report->output;
    return report.error().message + " | " + report.error().hint;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(home_.file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path before_ = fs::current_path();
  const test::TemporaryDirectory home_;
  client::FakeScheduler scheduler_;
};

TEST_F(Fetching, WritesTheArtifactHereByTheEndOfItsName) {
  EXPECT_EQ(fetch("/home/ada/net.attune"), "wrote net.attune");
  EXPECT_EQ(content("net.attune"), kArtifact);
  scheduler_.has_made({{"model.attune", kArtifact + " anew"}});
  EXPECT_EQ(fetch("/home/ada/net.attune"), "wrote net.attune") << "over an artifact";
  EXPECT_EQ(content("net.attune"), kArtifact + " anew");
}

TEST_F(Fetching, TheSchedulerChoosesNoOtherNames) {
  for (const std::string name :
       {".bashrc", ".attune", "notes.txt", "attune", "", "..", "a\n.attune"}) {
    std::string shown = name;
    if (shown == "a\n.attune") shown = "a?.attune";
    EXPECT_EQ(fetch("/home/ada/" + name), "the scheduler names the artifact '" + shown +
                                              "', which is no plain name that ends in .attune | "
                                              "name a file with -o FILE");
  }
  EXPECT_TRUE(fs::is_empty(home_.path()));
  EXPECT_EQ(fetch("/home/ada/notes.txt", {.output = "mine.bin"}), "wrote mine.bin");
  EXPECT_EQ(content("mine.bin"), kArtifact);
}

TEST_F(Fetching, ReplacesNothingButAnArtifact) {
  const std::string refused =
      "'net.attune' is there and is no artifact, so that it is not replaced | name a file with -o "
      "FILE";
  home_.write("net.attune", "a diary");
  EXPECT_EQ(fetch("/home/ada/net.attune"), refused);
  EXPECT_EQ(content("net.attune"), "a diary");
  EXPECT_EQ(fetch("/home/ada/net.attune", {.output = "net.attune"}), "wrote net.attune");
  fs::remove(home_.file("net.attune"));
  fs::create_symlink("elsewhere", home_.file("net.attune"));
  EXPECT_EQ(fetch("/home/ada/net.attune"), refused);
  EXPECT_FALSE(fs::exists(home_.file("elsewhere")));
  fs::remove(home_.file("net.attune"));
  ASSERT_EQ(::mkfifo(home_.file("net.attune").c_str(), 0600), 0);
  EXPECT_EQ(fetch("/home/ada/net.attune"), refused) << "and nobody waits for who writes to it";
}

TEST_F(Fetching, TakesNoMoreThanItMay) {
  const std::string piece(1000, 'x');
  scheduler_.has_made({{"model.attune", kArtifact}, {"", piece}, {"notes", piece}, {"", piece}});
  EXPECT_EQ(fetch("net.attune", {.most_bytes = 2500}),
            "the scheduler sends more than 2500 bytes | ask whoever runs it what the job made");
  EXPECT_EQ(fetch("net.attune", {.most_bytes = 4000}), "wrote net.attune");
  EXPECT_EQ(content("net.attune"), kArtifact + piece);
}

TEST_F(Fetching, AddsItsRecordsToTheStore) {
  const std::string theirs = home_.file("theirs.db");
  ASSERT_TRUE(records::open_sqlite_store(theirs)
                  .value()
                  ->add(std::vector{records::sample_record(0, records::timing(5))})
                  .ok());
  scheduler_.has_made({{"records.db", content("theirs.db")}});
  EXPECT_EQ(fetch(""), "wrote ");
  const auto store = records::open_sqlite_store_for_reading(home_.file("records.db"));
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->list({})->size(), 1u);
}

}  // namespace
}  // namespace attune::verbs
