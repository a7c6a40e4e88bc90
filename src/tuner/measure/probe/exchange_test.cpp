#include "tuner/measure/probe/exchange.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tuner/measure/probe/channel.h"

namespace attune::probe {
namespace {

Bytes bytes(std::size_t count, int value) {
  return std::make_shared<std::vector<std::byte>>(count, std::byte(value));
}

std::vector<Candidate> two_candidates() {
  return {{.object = bytes(100, 1),
           .symbol = "first",
           .buffers = {{.type = runtime::DType::I8, .elements = 5, .contents = bytes(5, 9)},
                       {.type = runtime::DType::F16, .elements = 33, .role = Role::Output}},
           .workspace_bytes = 77,
           .threads = 3,
           .seed = 11,
           .verification = {{{1, 32, 0.5}}, 1e-3, 1e-2},
           .return_outputs = true,
           .best_known_us = 4.0},
          {.object = bytes(3, 2),
           .symbol = "second",
           .buffers = {{.elements = 1, .role = Role::Constant, .fill_index = 6, .rotate = true}}}};
}

TEST(Exchange, CarriesCandidatesToAnotherMapping) {
  const auto sent = Exchange::create(two_candidates(), {.rounds = 4}, true);
  ASSERT_TRUE(sent.ok());
  const auto received = Exchange::attach(dup(sent->descriptor()));
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->header().rounds, 4);
  const std::vector<CandidateView> views = received->candidates();
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].object.size(), 100u);
  EXPECT_EQ(views[0].facts.symbol, "first");
  EXPECT_EQ(views[0].contents[0][4], std::byte{9});
  EXPECT_TRUE(views[0].contents[1].empty());
  EXPECT_EQ(views[0].facts.buffers[1].type, runtime::DType::F16);
  EXPECT_EQ(views[0].facts.buffers[1].role, Role::Output);
  EXPECT_EQ(views[0].facts.workspace_bytes, 77);
  EXPECT_EQ(views[0].facts.threads, 3);
  EXPECT_EQ(views[0].facts.seed, 11u);
  EXPECT_EQ(views[0].facts.verification.samples.at(0).index, 32);
  EXPECT_EQ(views[0].facts.verification.relative_tolerance, 1e-2);
  EXPECT_TRUE(views[0].facts.return_outputs);
  EXPECT_EQ(views[0].facts.best_known_us, 4.0);
  EXPECT_EQ(views[1].object[2], std::byte{2});
  EXPECT_TRUE(views[1].facts.buffers[0].rotate);
  EXPECT_EQ(views[1].facts.buffers[0].fill_index, 6);
}

TEST(Exchange, CarriesReportsBack) {
  const auto asked = Exchange::create(two_candidates(), {}, false);
  const auto worker = Exchange::attach(dup(asked->descriptor()));
  EXPECT_EQ(asked->header().rounds, 0);
  worker->reports()[0].timing = {.best_us = 2.0, .repeats = 3};
  worker->reports()[0].state = ReportState::Timed;
  worker->reports()[1].fail(ReportState::Wrong, outcome::Phase::Verify, std::string(500, 'x'));
  EXPECT_EQ(std::get<outcome::Timing>(asked->reports()[0].outcome()).best_us, 2.0);
  const auto wrong = std::get<outcome::WrongAnswer>(asked->reports()[1].outcome());
  EXPECT_EQ(wrong.reason, std::string(255, 'x'));  // cut to its room
}

TEST(Exchange, AReportNobodyWroteIsALoss) {
  EXPECT_EQ(describe(Report{}.outcome()),
            "infrastructure lost in load: the measuring process ended before it was run");
}

TEST(Channel, CarriesMessagesAndDescriptors) {
  auto ends = make_channel();
  ASSERT_TRUE(ends.ok());
  const auto exchange = Exchange::create({}, {}, false);
  ASSERT_TRUE(send(ends->first, {MessageKind::Measure, 7, exchange->descriptor()}));
  ASSERT_TRUE(send(ends->first, {.kind = MessageKind::Done}));
  const auto first = receive(ends->second);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind, MessageKind::Measure);
  EXPECT_EQ(first->value, 7u);
  EXPECT_TRUE(Exchange::attach(first->descriptor).ok());
  EXPECT_EQ(receive(ends->second)->descriptor, -1);
}

TEST(Channel, TellsWhenTheOtherEndIsGone) {
  auto ends = make_channel();
  { const Descriptor closed = std::move(ends->first); }
  EXPECT_FALSE(receive(ends->second).has_value());
  EXPECT_FALSE(send(ends->second, {.kind = MessageKind::Done}));
}

}  // namespace
}  // namespace attune::probe
