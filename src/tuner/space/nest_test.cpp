#include "tuner/space/nest.h"

#include <gtest/gtest.h>

namespace attune::space {
namespace {

Level shared(std::int64_t extent, double useful_end, std::int64_t ends) {
  return {.extent = extent,
          .kind = ir::LoopKind::Parallel,
          .spans = {},
          .useful = useful_end,
          .useful_end = useful_end,
          .ends = ends};
}

TEST(SharedLevels, AreAsFastAsTheThreadWithMostToDo) {
  EXPECT_DOUBLE_EQ(shared(8, 1, 8).speed(2), 2);
  EXPECT_DOUBLE_EQ(shared(7, 1, 7).speed(2), 7.0 / 4);
  EXPECT_DOUBLE_EQ(shared(3, 1, 3).speed(16), 3);
  // Seven vectors as four and three.
  EXPECT_DOUBLE_EQ(shared(2, 7.0 / 8, 2).speed(2), 7.0 / 4);
  // Two blocks of rows, the second half full, times eleven panels: one thread has the full block.
  EXPECT_DOUBLE_EQ(shared(22, 0.75, 2).speed(2), 1.5);
  EXPECT_DOUBLE_EQ(shared(1, 0.5, 1).speed(4), 1);
}

}  // namespace
}  // namespace attune::space
