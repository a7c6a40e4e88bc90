// Barriers where slots of shared memory are different elements, and where they only look so.
#include <gtest/gtest.h>

#include "compiler/lower/passes_testing.h"

namespace attune::lower {
namespace {

std::size_t barriers_of(const std::string& body) {
  const ir::Kernel kernel = kernel_of(body);
  const std::string text = ir::to_string(insert_barriers(kernel.body));
  std::size_t found = 0;
  for (auto at = text.find("barrier"); at != std::string::npos; at = text.find("barrier", at + 1)) {
    ++found;
  }
  return found;
}

std::string launch(const std::string& body) {
  return "bound for t in 4 on thread.x { alloc S: f32[3, 4] shared { " + body + " } }";
}

TEST(InsertBarriers, SlotsOfOneIterationAreDifferentElements) {
  // One barrier at the end of the loop, for the next iteration; or none where it begins with one.
  EXPECT_EQ(barriers_of(launch("for i in 6 { S[(i + 2) % 3, t] = A[t] B[t] = S[i % 3, 3 - t] }")),
            1u);
  EXPECT_EQ(barriers_of(launch("for i in 6 { barrier shared S[(i + 2) % 3, t] = A[t] "
                               "B[t] = S[i % 3, 3 - t] }")),
            1u);
  // The same slot, three further.
  EXPECT_EQ(barriers_of(launch("for i in 6 { barrier shared S[(i + 3) % 3, t] = A[t] "
                               "B[t] = S[i % 3, 3 - t] }")),
            2u);
}

TEST(InsertBarriers, SlotsOfThreadsAreNot) {
  // What is another element for one thread is that of its neighbour.
  EXPECT_EQ(barriers_of(launch("S[t % 3, 0] = A[t] B[t] = S[(t + 1) % 3, 0]")), 1u);
}

TEST(InsertBarriers, SlotsOfTwoLoopsAreNot) {
  EXPECT_EQ(barriers_of(launch("for i in 3 { S[i % 3, t] = A[t] } "
                               "for i in 3 { B[t] = S[(i + 1) % 3, 3 - t] }")),
            1u);
  EXPECT_EQ(barriers_of(launch("if (t < 3) { for i in 3 { S[i % 3, t] = A[t] } } "
                               "if (t < 2) { for i in 3 { B[t] = S[(i + 1) % 3, 3 - t] } }")),
            1u);
}

TEST(InsertBarriers, AsynchronousCopiesAreWrites) {
  const std::string copy = "eval @async_copy<i32>(S[0, t], A[t], 1, true) ";
  EXPECT_EQ(barriers_of(launch("for i in 6 { " + copy + "}")), 0u);
  EXPECT_EQ(barriers_of(launch("for i in 6 { " + copy + "B[t] = S[0, 3 - t] }")), 2u);
}

}  // namespace
}  // namespace attune::lower
