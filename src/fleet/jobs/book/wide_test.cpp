// Measurements that take the host's cores besides those of their device.
#include <gtest/gtest.h>

#include "fleet/jobs/book/book_testing.h"

namespace attune::jobs {
namespace {

// Jobs a and b, each with a worker, on a machine with two devices.
Book two_jobs(std::string_view policy, int threads, std::vector<std::vector<int>> devices) {
  BookOptions with = options(policy);
  with.pools = {{"host", {{0}}}, {"cpu", std::move(devices)}};
  Book book(with, {}, 0);
  for (const char* name : {"a", "b"}) {
    v1::SubmitRequest asked = request(name);
    asked.mutable_spec()->set_threads(threads);
    CHECK(book.submit(kMe, asked, 0).ok(), "the job is a good one");
  }
  for (const WorkerId worker : {1u, 2u}) {
    book.joined(worker, kLocal, 0);
    book.said(worker, hello(), 0);
  }
  book.settle(0);
  for (const WorkerId worker : {1u, 2u}) {
    book.said(worker, kinds("j" + std::to_string(worker), 1), 0);
  }
  return book;
}

// How many stages start when both want to measure.
std::size_t both_measure(Book book) {
  book.said(1, offer("j1", 1, 1, 1), 0);
  book.said(2, offer("j2", 1, 1, 1), 0);
  return book.settle(0).messages.size();
}

TEST(Wide, TwoMeasurementsDoNotShareTheHostsCores) {
  EXPECT_EQ(both_measure(two_jobs("fair", 2, {{1}, {2}})), 1u);
  EXPECT_EQ(both_measure(two_jobs("fair", 1, {{1}, {2}})), 2u);
  EXPECT_EQ(both_measure(two_jobs("unscheduled", 2, {{1}, {2}})), 2u);  // what it is for
}

TEST(Wide, OfTwoMeasurementsOfOtherKindsNeither) {
  Book book = two_jobs("fair", 2, {{1}, {2}});
  v1::FromWorker other = kinds("j2", 1);
  other.mutable_kinds()->mutable_kinds(1)->set_name("confirm");
  book.said(2, other, 0);
  EXPECT_EQ(both_measure(std::move(book)), 1u);
}

TEST(Wide, EveryDeviceCountsThatSharesCoresWithTheHost) {
  for (const bool shares : {false, true}) {
    Book book = two_jobs("fair", 1, {{1}, {shares ? 0 : 2}});
    book.said(1, offer("j1", 1, 1, 1), 0);
    book.said(2, offer("j2", 1, 1, 0), 0);
    EXPECT_EQ(book.settle(0).messages.size(), shares ? 1u : 2u);
  }
}

}  // namespace
}  // namespace attune::jobs
