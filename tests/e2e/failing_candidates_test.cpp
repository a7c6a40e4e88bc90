// Tuning where nothing but the default schedules can be built: they stay, and the run says so.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli/tune/tune_texts.h"
#include "base/temporary_directory_testing.h"
#include "tests/support/tiny_onnx.h"
#include "tuner/whole_model/tune.h"
#include "tuner/whole_model/tuned_model.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {
namespace {

class DefaultsOnly final : public measure::Builder {
 public:
  explicit DefaultsOnly(measure::Builder& inner) : inner_(inner) {}
  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override {
    std::vector<measure::BuiltCandidate> built = inner_.build(requests);
    for (std::size_t i = 0; i < built.size(); ++i) {
      if (requests[i].whatever_it_costs) continue;
      built[i].failure = outcome::BuildFailed{outcome::Phase::Build, "out of luck"};
    }
    return built;
  }
  Result<measure::Expectation> expect(const ir::Program& program, std::uint64_t seed) override {
    return inner_.expect(program, seed);
  }

 private:
  measure::Builder& inner_;
};

class UnluckyResources final : public TuningResources {
 public:
  Status open(const target::Target& target) override {
    ATTUNE_RETURN_IF_ERROR(inner_.open(target));
    builder_ = std::make_unique<DefaultsOnly>(inner_.builder());
    return {};
  }
  measure::Builder& builder() override { return *builder_; }
  measure::Runner& runner() override { return inner_.runner(); }
  session::Admission& admission() override { return inner_.admission(); }
  const Clock& clock() const override { return inner_.clock(); }
  bool overlap() const override { return inner_.overlap(); }
  int window() const override { return inner_.window(); }
  Status aside(const std::function<Status()>& work) override { return inner_.aside(work); }

 private:
  LocalResources inner_;
  std::unique_ptr<DefaultsOnly> builder_;
};

class FailingCandidates : public testing::Test {
 protected:
  TuneOptions options(const std::string& model) const {
    TuneOptions options;
    options.model = {.model = model, .threads = 1};
    options.records = directory_.file("records.db");
    options.history = "none";
    options.trials = 40;
    options.measuring.batch = 4;
    return options;
  }
  Result<TuneReport> tuned(const TuneOptions& options) {
    ATTUNE_ASSIGN(TunedModel model, load_tuned_model(options, resources_.clock()));
    return tune(std::move(model), options, {}, stop_, resources_);
  }
  static void expect_default_stays(const TuneReport& report) {
    ASSERT_EQ(report.tasks.size(), 1u);
    const TunedTask& task = report.tasks[0];
    EXPECT_TRUE(task.all_failed());
    EXPECT_TRUE(task.best_is_default);
    EXPECT_EQ(task.best_us, task.default_us);
    EXPECT_EQ(task.default_failure, "");
    ASSERT_EQ(report.failures.size(), 1u);
    EXPECT_EQ(report.failures[0].kind, "build_failed");
    EXPECT_NE(cli::text_of(report).find("\nfailures\nbuild_failed "), std::string::npos);
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_EQ(json["failures"]["build_failed"]["count"], report.failures[0].count);
    EXPECT_GT(json["latency_ms"].get<double>(), 0);
  }

  test::TemporaryDirectory directory_;
  std::atomic<bool> stop_ = false;
  UnluckyResources resources_;
};

TEST_F(FailingCandidates, TheDefaultOfAnOperatorStays) {
  const auto report = tuned(options("matmul:m=24,n=32,k=16"));
  ASSERT_TRUE(report.ok()) << report.error().message;
  expect_default_stays(*report);
  const Status verdict = cli::verdict_on_records(*report);
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("build_failed; the default schedule stays"),
            std::string::npos);
}

TEST_F(FailingCandidates, TheDefaultsOfAModelStay) {
  const std::string model = test::write_tiny_model(directory_.file("model.onnx"), "MatMul",
                                                   {{"a", {"24", "16"}}, {"b", {"16", "32"}}});
  TuneOptions whole = options(model);
  whole.output = directory_.file("model.attune");
  const auto report = tuned(whole);
  ASSERT_TRUE(report.ok()) << report.error().message;
  expect_default_stays(*report);
  EXPECT_TRUE(std::filesystem::exists(whole.output));
  const Status verdict = cli::verdict_on_artifact(*report);
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("build_failed; the default schedules stay, compiled to"),
            std::string::npos);
}

}  // namespace
}  // namespace attune::whole_model
