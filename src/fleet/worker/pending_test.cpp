#include "fleet/worker/pending.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace attune::worker {
namespace {

v1::ToWorker assign(const std::string& job) {
  v1::ToWorker message;
  message.mutable_assign()->mutable_job()->set_id(job);
  message.mutable_assign()->mutable_job()->set_epoch(2);
  return message;
}

v1::ToWorker known(const std::string& job, std::int64_t stage) {
  v1::ToWorker message;
  message.mutable_known()->set_job(job);
  message.mutable_known()->set_epoch(2);
  message.mutable_known()->set_stage(stage);
  return message;
}

void say_kinds(Pending& pending, const std::string& job) {
  v1::FromWorker message;
  message.mutable_kinds()->set_job(job);
  message.mutable_kinds()->set_epoch(2);
  pending.said(message);
}

void offer(Pending& pending, const std::string& job, std::int64_t stage) {
  v1::FromWorker message;
  message.mutable_offer()->set_job(job);
  message.mutable_offer()->set_epoch(2);
  message.mutable_offer()->set_stage(stage);
  pending.said(message);
}

void finish(Pending& pending, const std::string& job, std::int64_t stage) {
  v1::FromWorker message;
  message.mutable_finished()->set_job(job);
  message.mutable_finished()->set_epoch(2);
  message.mutable_finished()->set_stage(stage);
  pending.said(message);
}

std::string again(const Pending& pending) {
  std::vector<std::string> words;
  for (const v1::FromWorker& message : pending.again()) {
    if (message.has_kinds()) words.push_back("kinds");
    if (message.has_offer()) words.push_back(fmt::format("offer {}", message.offer().stage()));
    if (message.has_finished()) {
      words.push_back(fmt::format("finished {}", message.finished().stage()));
    }
    if (message.has_ended()) words.push_back("ended");
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

TEST(Pending, SaysAgainWhatIsOpenAndWhatIsNotKnown) {
  Pending pending;
  EXPECT_TRUE(pending.empty());
  pending.heard(assign("j1"));
  say_kinds(pending, "j1");
  for (const int stage : {1, 2, 3}) offer(pending, "j1", stage);
  finish(pending, "j1", 2);
  finish(pending, "j1", 1);
  EXPECT_EQ(again(pending), "kinds, finished 2, finished 1, offer 3");
  pending.heard(known("j1", 2));
  EXPECT_EQ(again(pending), "kinds, finished 1, offer 3");
  ASSERT_EQ(pending.holdings().size(), 1u);
  EXPECT_EQ(pending.holdings()[0].epoch(), 2);
}

TEST(Pending, AnEndIsSaidUntilItIsKnown) {
  Pending pending;
  pending.heard(assign("j1"));
  v1::FromWorker message;
  message.mutable_ended()->set_job("j1");
  message.mutable_ended()->set_epoch(2);
  pending.said(message);
  EXPECT_EQ(again(pending), "ended");
  pending.heard(known("j1", -1));
  EXPECT_TRUE(pending.empty());
}

TEST(Pending, WhatWasRefusedIsForgotten) {
  Pending pending;
  pending.heard(assign("j1"));
  say_kinds(pending, "j1");
  v1::ToWorker refused;
  refused.mutable_refused()->set_job("j1");
  refused.mutable_refused()->set_epoch(2);
  pending.heard(refused);
  offer(pending, "j1", 1);
  EXPECT_EQ(again(pending), "");
}

}  // namespace
}  // namespace attune::worker
