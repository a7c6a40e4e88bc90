#include "fleet/jobs/scheduler/predictor.h"

#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

TEST(Predictor, IsWhatIsUsualBeforeAnythingWasSeen) {
  const Predictor predictor({1.0, 4.0});
  EXPECT_DOUBLE_EQ(predictor.seconds(0), 1.0);
  EXPECT_DOUBLE_EQ(predictor.seconds(1), 4.0);
}

TEST(Predictor, LearnsFromItsOwnStages) {
  Predictor predictor({1.0, 1.0});
  for (int i = 0; i < 50; ++i) predictor.observe(0, 3.0);
  EXPECT_NEAR(predictor.seconds(0), 3.0, 0.1);
  EXPECT_NEAR(predictor.seconds(1), 3.0, 0.1) << "the job is slow in general";
}

TEST(Predictor, OneShortStageDoesNotMakeAShortJob) {
  Predictor predictor({2.0, 1.0, 1.0, 1.0});
  predictor.observe(0, 0.01);
  EXPECT_GT(predictor.seconds(1), 0.5);
}

TEST(Predictor, CountsTimesMeansAreTheWholeOfUnequalStages) {
  Predictor predictor({1.0});
  for (int i = 0; i < 400; ++i) predictor.observe(0, i % 4 == 0 ? 4.0 : 0.01);
  EXPECT_NEAR(predictor.seconds(0), 1.0, 0.05);
}

// Two equal jobs, of which one runs first: the other must not be thought shorter or longer for it.
TEST(Predictor, WhatOneJobTookIsExpectedOfItsEqual) {
  Book book(options("makespan"), {}, 0);
  for (const char* name : {"a", "b"}) ASSERT_TRUE(book.submit(kMe, request(name), 0).ok());
  for (const WorkerId worker : {1, 2}) {
    book.joined(worker, kLocal, 0);
    book.said(worker, hello(), 0);
  }
  book.settle(0);
  book.said(1, kinds("j1", 1), 0);
  book.said(2, kinds("j2", 1), 0);
  book.settle(0);
  const double before = job_of(book, "b", 0).predicted_end();
  for (int stage = 0; stage < 4; ++stage) {
    book.said(1, offer("j1", 1, stage, 0), 0);
    book.settle(0);
    v1::FromWorker done = finished("j1", 1, stage);
    done.mutable_finished()->set_seconds(100);
    book.said(1, done, 0);
    book.settle(0);
  }
  EXPECT_GT(job_of(book, "b", 0).predicted_end(), 20 * before);
}

}  // namespace
}  // namespace attune::jobs
