#include "tuner/whole_model/other_tasks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace attune::whole_model {
namespace {

records::Hint hint_for(const std::string& key, const std::string& trace,
                       const std::string& anchor) {
  return {.task_key = key,
          .task_name = "conv",
          .trace = trace,
          .trace_hash = std::hash<std::string>()(trace),
          .time_us = 10,
          .foreign_target = "elsewhere",
          .source = "autotvm log",
          .created_at_ms = 1,
          .anchor_key = anchor,
          .config = "{}"};
}

class OtherTasks : public testing::Test {
 protected:
  OtherTasks() {
    const std::string base = testing::TempDir() + "/other_tasks_test." + std::to_string(getpid());
    std::filesystem::create_directories(base);
    directory_ = base;
    from_ = records::open_sqlite_store(base + "/from.db").value();
    to_ = records::open_sqlite_store(base + "/to.db").value();
  }
  ~OtherTasks() override {
    from_.reset();
    to_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::vector<std::string> brought() {
    std::vector<std::string> traces;
    const std::vector<records::Hint> hints = to_->hints({}).value();
    for (const records::Hint& hint : hints) traces.push_back(hint.trace);
    return traces;
  }
  std::filesystem::path directory_;
  std::unique_ptr<records::Store> from_, to_;
};

TEST_F(OtherTasks, HintsOfTheTaskAndOfItsOperatorAreBrought) {
  const std::vector<records::Hint> hints = {hint_for("k1", "one", "a"), hint_for("k2", "two", "a"),
                                            hint_for("k3", "three", "b")};
  ASSERT_TRUE(from_->add_hints(hints).ok());
  ASSERT_TRUE(bring_hints(*from_, "k1", "", *to_).ok());
  EXPECT_EQ(brought(), std::vector<std::string>{"one"});
  ASSERT_TRUE(bring_hints(*from_, "k1", "a", *to_).ok());
  EXPECT_EQ(brought(), (std::vector<std::string>{"one", "two"}));
  ASSERT_TRUE(bring_hints(*from_, "k9", "z", *to_).ok());
  EXPECT_EQ(brought().size(), 2U);
}

}  // namespace
}  // namespace attune::whole_model
