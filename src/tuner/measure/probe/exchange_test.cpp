#include "tuner/measure/probe/exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
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

// As in a worker.
Result<Exchange> attached(const Exchange& exchange) {
  const std::vector<int> numbers = exchange.descriptors(false);
  return Exchange::attach(Descriptor(dup(numbers[0])), Descriptor(dup(numbers[1])));
}

TEST(Exchange, CarriesCandidatesToAnotherMapping) {
  const auto sent = Exchange::create(two_candidates(), {.rounds = 4}, true);
  ASSERT_TRUE(sent.ok());
  const auto received = attached(*sent);
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->header().rounds, 4);
  const std::vector<KernelMessage> views = received->candidates();
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
  EXPECT_EQ(views[0].facts.verification.samples.at(0).expected, 0.0);  // the kernel need not know
  EXPECT_TRUE(views[0].facts.return_outputs);
  EXPECT_EQ(views[0].facts.best_known_us, 4.0);
  EXPECT_EQ(views[1].object[2], std::byte{2});
  EXPECT_TRUE(views[1].facts.buffers[0].rotate);
  EXPECT_EQ(views[1].facts.buffers[0].fill_index, 6);
}

TEST(Exchange, CarriesReportsBack) {
  const auto asked = Exchange::create(two_candidates(), {}, false);
  const auto worker = attached(*asked);
  EXPECT_EQ(asked->header().rounds, 0);
  worker->replies().report(0).timing = {.best_us = 2.0, .repeats = 3};
  worker->replies().report(0).state = ReportState::Timed;
  worker->replies().report(1).fail(ReportState::Wrong, outcome::Phase::Verify,
                                   std::string(500, 'x'));
  worker->replies().values(0, Answers::When::Last)[0] = 7.0;
  worker->replies().outputs(0)[65] = std::byte{3};
  const Answers& said = asked->replies();
  EXPECT_EQ(std::get<outcome::Timing>(said.report(0).outcome()).best_us, 2.0);
  const auto wrong = std::get<outcome::WrongAnswer>(said.report(1).outcome());
  EXPECT_EQ(wrong.reason, std::string(255, 'x'));  // cut to its room
  EXPECT_EQ(said.values(0, Answers::When::First)[0], 0.0);
  EXPECT_EQ(said.values(0, Answers::When::Last)[0], 7.0);
  EXPECT_EQ(said.outputs(0).size(), 128u);
  EXPECT_EQ(said.outputs(0)[65], std::byte{3});
  EXPECT_EQ(asked->verdicts().report(0).state, ReportState::Pending);
}

TEST(Exchange, NobodyChangesItsSize) {
  const auto exchange = Exchange::create(two_candidates(), {}, false);
  for (const int descriptor : exchange->descriptors(true)) {
    EXPECT_NE(ftruncate(descriptor, 0), 0);
    EXPECT_NE(ftruncate(descriptor, 1 << 30), 0);
    EXPECT_NE(fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE), 0);  // nobody locks the others out
  }
}

TEST(Exchange, NobodyChangesTheRequest) {
  const auto exchange = Exchange::create(two_candidates(), {}, false);
  const int requests = exchange->descriptors(false)[0];
  const char byte = 1;
  EXPECT_NE(pwrite(requests, &byte, 1, 0), 1);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, requests, 0), MAP_FAILED);
}

TEST(Channel, CarriesMessagesAndDescriptors) {
  auto ends = make_channel();
  ASSERT_TRUE(ends.ok());
  const auto exchange = Exchange::create({}, {}, false);
  ASSERT_TRUE(send(ends->first, MessageKind::Measure, 7, exchange->descriptors(true)));
  ASSERT_TRUE(send(ends->first, MessageKind::Done));
  auto first = receive(ends->second);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind, MessageKind::Measure);
  EXPECT_EQ(first->value, 7u);
  auto& [requests, replies, verdicts] = first->descriptors;
  EXPECT_TRUE(Exchange::attach(std::move(requests), std::move(replies), std::move(verdicts)).ok());
  EXPECT_FALSE(receive(ends->second)->descriptors[0].is_open());
}

TEST(Channel, WaitsNoLongerThanAsked) {
  auto ends = make_channel();
  EXPECT_FALSE(is_readable(ends->second, 5));
  send_in_passing(ends->first, MessageKind::Alive);
  EXPECT_TRUE(is_readable(ends->second, 60'000));
}

TEST(Channel, SomethingElseThanAMessageIsTheEnd) {
  auto ends = make_channel();
  ASSERT_EQ(write(ends->first.number(), "a longer text than messages have", 32), 32);
  EXPECT_FALSE(receive(ends->second).has_value());
}

TEST(Channel, TellsWhenTheOtherEndIsGone) {
  auto ends = make_channel();
  { const Descriptor closed = std::move(ends->first); }
  EXPECT_FALSE(receive(ends->second).has_value());
  EXPECT_FALSE(send(ends->second, MessageKind::Done));
}

}  // namespace
}  // namespace attune::probe
