#include "app/verbs/jobs/job_options.h"

#include <gtest/gtest.h>

namespace attune::verbs {
namespace {

TEST(JobOptions, ArriveAsTheyWere) {
  const JobOptions options{.target = "cpu -mcpu=znver3",
                           .exact = true,
                           .precision = ops::Precision::BF16,
                           .shapes = {"x=1,3,8,8", "s="},
                           .maxima = {"n=10"},
                           .constants = {"k=3"},
                           .inputs = {{"a=b", "/c=d/x.npy"}, {"", "/all.npz"}},
                           .records = "/a/records.db",
                           .history = "none"};
  EXPECT_EQ(*parse_job_options(to_json(options)), options);
  EXPECT_EQ(*parse_job_options(""), JobOptions{});
}

TEST(JobOptions, OfBytesThatAreNoTextDoNotEndTheProgram) {
  EXPECT_EQ(parse_job_options(to_json({.records = "/a\xff"}))->records, "/a\ufffd");
}

TEST(JobOptions, RefusesWhatItDoesNotUnderstand) {
  const auto message = [](const std::string& text) {
    return parse_job_options(text).error().message;
  };
  EXPECT_EQ(message(R"({"colour": "red"})"),
            "the options of the job cannot be read: 'colour' is not understood");
  EXPECT_EQ(message(R"({"exact": 1})"),
            "the options of the job cannot be read: 'exact' is not understood");
  EXPECT_EQ(message(R"({"precision": "f8"})"),
            "the options of the job cannot be read: 'precision' is not understood");
  EXPECT_EQ(message(R"({"inputs": ["x=/a.npy"]})"),
            "the options of the job cannot be read: 'inputs' is not understood");
  EXPECT_EQ(message("[]"), "the options of the job cannot be read: it is no JSON object");
  const std::string deep(1 << 19, '[');
  EXPECT_EQ(message(R"({"shapes": )" + deep),
            "the options of the job cannot be read: it is no JSON object");
  const std::string closed(101, '['), ends(101, ']');
  EXPECT_EQ(message(R"({"shapes": )" + closed + ends + "}"),
            "the options of the job cannot be read: it is no JSON object");
  EXPECT_EQ(message("{"), "the options of the job cannot be read: it is no JSON object");
}

}  // namespace
}  // namespace attune::verbs
