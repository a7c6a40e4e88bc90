#include "app/verbs/records/curves.h"

#include <gtest/gtest.h>

namespace attune::verbs {
namespace {

Curve sample() {
  Curve curve{.session = 3, .task = "dense:m=1,n=2,k=3", .key = "ab", .target = "cpu", .failed = 1};
  curve.points = {
      {1, 400.0, 400.0}, {2, std::nullopt, 400.0}, {3, 200.0, 200.0}, {4, 100.0, 100.0}};
  return curve;
}

TEST(Curves, SparklineRisesToTheBest) {
  EXPECT_EQ(sparkline(sample(), 60), "▃▃▅█");
  EXPECT_EQ(sparkline(sample(), 2), "▃█");
  EXPECT_EQ(sparkline(Curve{}, 60), "");
  Curve hopeless = sample();
  hopeless.points = {{1, std::nullopt, std::nullopt}};
  EXPECT_EQ(sparkline(hopeless, 60), " ");
}

TEST(Curves, Csv) {
  EXPECT_EQ(to_csv({sample()}),
            "session,task,target,trial,time_us,best_us\n"
            "3,\"dense:m=1,n=2,k=3\",\"cpu\",1,400.0000,400.0000\n"
            "3,\"dense:m=1,n=2,k=3\",\"cpu\",2,,400.0000\n"
            "3,\"dense:m=1,n=2,k=3\",\"cpu\",3,200.0000,200.0000\n"
            "3,\"dense:m=1,n=2,k=3\",\"cpu\",4,100.0000,100.0000\n");
}

}  // namespace
}  // namespace attune::verbs
