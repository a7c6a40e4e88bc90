// The passes over statements, one by one, on small kernels in text.
#include <gtest/gtest.h>

#include "compiler/ir/interpret.h"
#include "compiler/ir/parse.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/flatten.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

// The kernel is `kernel k(A: f32[32], B: f32[32]) { … }`; A is read, B written.
ir::Kernel kernel_of(const std::string& body) {
  const auto kernel = ir::parse_kernel("kernel k(A: f32[32], B: f32[32]) {\n" + body + "}\n");
  CHECK(kernel.ok(), kernel.error().message);
  return *kernel;
}

std::vector<ir::Array> run(const ir::Kernel& kernel) {
  std::vector<ir::Array> arrays{ir::Array(ir::kF32, {32}), ir::Array(ir::kF32, {32})};
  for (int i = 0; i < 32; ++i) arrays[0].set_real(i, 0.25 * i - 2), arrays[1].set_real(i, -1 - i);
  const Status status = ir::interpret(kernel, arrays);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return arrays;
}

std::string text_of(const ir::Stmt& s) {
  const auto* block = ir::as<ir::Block>(s);
  if (!block) return ir::to_string(s);
  std::string text;
  for (const ir::Stmt& child : block->stmts) text += ir::to_string(child);
  return text;
}

// The body after the pass, which must be well formed and mean the same.
std::string after(ir::Stmt (*pass)(const ir::Stmt&), const std::string& body) {
  const ir::Kernel before = kernel_of(body);
  ir::Kernel changed = before;
  changed.body = pass(before.body);
  const Status verified = ir::verify(changed);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(run(before)[1].data, run(changed)[1].data);
  return "\n" + text_of(changed.body);
}

TEST(HoistGuards, MovesConditionsOutOfLoops) {
  EXPECT_EQ(after(hoist_guards, R"(
for i in 4 {
  for j in 5 {
    if (i < 3 && j < 4) {
      B[i * 5 + j] = A[i * 5 + j]
    }
  }
})"),
            R"(
for i in 4 {
  if (i < 3) {
    for j in 5 {
      if (j < 4) {
        B[i * 5 + j] = A[i * 5 + j]
      }
    }
  }
}
)");
}

TEST(HoistGuards, KeepsParallelLoopsOutermost) {
  const std::string body = R"(
for k in 2 {
  parallel for i in 4 {
    if (k < 1) {
      B[i] = A[i + k]
    }
  }
}
)";
  EXPECT_EQ(after(hoist_guards, body), body);
}

TEST(HoistGuards, SharesTheGuardsOfABlock) {
  EXPECT_EQ(after(hoist_guards, R"(
for i in 4 {
  if (i < 3 && A[i] < 1.0f32) {
    B[i] = 1.0f32
  }
  if (i < 3) {
    B[i + 8] = 2.0f32
  }
})"),
            R"(
for i in 4 {
  if (i < 3) {
    if (A[i] < 1.0f32) {
      B[i] = 1.0f32
    }
    B[i + 8] = 2.0f32
  }
}
)");
}

// The first statement writes what the second condition reads.
TEST(HoistGuards, LeavesConditionsOnMemoryWhereTheyAre) {
  const std::string body = R"(
for i in 4 {
  if (B[3] < 0.0f32) {
    B[3] = A[i] + 8.0f32
  }
}
)";
  EXPECT_EQ(after(hoist_guards, body), body);
}

TEST(TightenLoops, TakesConditionsIntoTheRange) {
  EXPECT_EQ(after(tighten_loops, R"(
for i in 4 {
  for j in 8 {
    if (i * 8 + j < 27 && j + i >= 2) {
      B[i * 8 + j] = A[j]
    }
  }
})"),
            R"(
for i in 4 {
  for j in min(8, 27 - i * 8) - max(0, 2 - i) from max(0, 2 - i) {
    B[i * 8 + j] = A[j]
  }
}
)");
}

TEST(TightenLoops, KeepsConstantExtentsWhereTheyAreNeeded) {
  EXPECT_EQ(after(tighten_loops, R"(
for i in 4 {
  vectorized for j in 8 {
    if (j >= 2 && i * 8 + j < 27) {
      B[i * 8 + j] = A[j]
    }
  }
})"),
            R"(
for i in 4 {
  vectorized for j in 6 from 2 {
    if (i * 8 + j < 27) {
      B[i * 8 + j] = A[j]
    }
  }
}
)");
}

TEST(PartitionLoops, PutsTheTailApart) {
  EXPECT_EQ(after(partition_loops, R"(
for i in 4 {
  vectorized for j in 8 {
    if (i * 8 + j < 27) {
      B[i * 8 + j] = A[j]
    }
  }
})"),
            R"(
for i in 3 {
  vectorized for j in 8 {
    B[i * 8 + j] = A[j]
  }
}
vectorized for j in 3 {
  B[j + 24] = A[j]
}
)");
}

// Only the first of four iterations behind the main part has anything to do.
TEST(PartitionLoops, DecidesEachEdgeOfAnUnrolledLoop) {
  EXPECT_EQ(after(partition_loops, R"(
for k in 2 {
  unrolled for i in 6 {
    vectorized for j in 4 {
      if (i * 4 + j < 10) {
        B[k * 16 + i * 4 + j] = A[j]
      }
    }
  }
})"),
            R"(
for k in 2 {
  unrolled for i in 2 {
    vectorized for j in 4 {
      B[k * 16 + i * 4 + j] = A[j]
    }
  }
  vectorized for j in 2 {
    B[k * 16 + j + 8] = A[j]
  }
}
)");
}

TEST(PartitionLoops, ChoosesInsideOfParallelLoops) {
  EXPECT_EQ(after(partition_loops, R"(
parallel for i in 4 {
  for j in 8 {
    if (i * 8 + j < 27) {
      B[i * 8 + j] = A[j]
    }
  }
})"),
            R"(
parallel for i in 4 {
  if (i < 3) {
    for j in 8 {
      B[i * 8 + j] = A[j]
    }
  } else {
    for j in 3 {
      B[j + 24] = A[j]
    }
  }
}
)");
}

TEST(PartitionLoops, CutsBordersOffOnBothSides) {
  EXPECT_EQ(after(partition_loops, R"(
for i in 8 {
  B[i] = select(1 <= i && i < 7, A[i - 1], 0.0f32)
})"),
            R"(
B[0] = 0.0f32
for i in 6 from 1 {
  B[i] = A[i - 1]
}
B[7] = 0.0f32
)");
}

// Three repetitions share the two lines (of 16 elements) that a step reads of A; what B is read for
// moves on with every repetition.
TEST(PrefetchLoads, SharesTheNextPanelBetweenRepetitions) {
  const std::string text = after(prefetch_loads, R"(
for p in 1 {
  for r in 3 {
    for k in 1 with prefetch = next {
      for j in 8 {
        B[r * 8 + j] = A[p * 32 + k * 32 + j] + B[r * 8 + k * 8 + j]
      }
    }
  }
})");
  EXPECT_NE(text.find("eval @prefetch<i32>(A[k * 32 + p * 32 + r * 16 + 32], 2)"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("prefetch<i32>(B"), std::string::npos) << text;
}

// The walk along the panel has two loops.
TEST(PrefetchLoads, KnowsPartsOfThePanel) {
  const std::string text = after(prefetch_loads, R"(
for p in 1 {
  for r in 2 {
    for k in 2 {
      for l in 1 with prefetch = next {
        for j in 8 {
          B[r * 8 + j] = A[p * 32 + k * 16 + l * 16 + j]
        }
      }
    }
  }
})");
  EXPECT_NE(text.find("eval @prefetch<i32>(A[p * 32 + k * 16 + l * 16 + r * 16 + 32], 2)"),
            std::string::npos)
      << text;
}

TEST(PrefetchLoads, LeavesStreamsToTheHardware) {
  const std::string body = R"(
for p in 2 {
  for k in 4 with prefetch = next {
    B[p * 4 + k] = A[p * 4 + k]
  }
}
)";
  EXPECT_EQ(after(prefetch_loads, body), body);
}

TEST(UnrollLoops, WritesIterationsOut) {
  EXPECT_EQ(after(unroll_loops, R"(
for k in 2 {
  unrolled for i in 2 {
    unrolled for j in 2 from 1 with launder = 'on' {
      if (i < j) {
        B[k * 4 + i * 2 + j] = A[i]
      }
    }
  }
})"),
            R"(
for k in 2 {
  eval @launder<i32>()
  B[k * 4 + 0 + 1] = A[0]
  eval @launder<i32>()
  B[k * 4 + 0 + 2] = A[0]
  eval @launder<i32>()
  eval @launder<i32>()
  B[k * 4 + 2 + 2] = A[1]
}
)");
}

TEST(UnrollLoops, LeavesUnknownExtentsAsLoops) {
  EXPECT_EQ(after(unroll_loops, R"(
for k in 2 {
  unrolled for i in k + 1 {
    B[i] = A[k]
  }
})"),
            R"(
for k in 2 {
  for i in k + 1 {
    B[i] = A[k]
  }
}
)");
}

TEST(VectorizeLoops, MakesVectorsOfPowersOfTwo) {
  EXPECT_EQ(after(vectorize_loops, R"(
for k in 2 {
  vectorized for i in 7 {
    B[k * 7 + i] = A[i] * A[k]
  }
})"),
            R"(
for k in 2 {
  B[broadcast(k * 7, 4) + ramp(0, 1, 4)] = A[ramp(0, 1, 4)] * broadcast(A[k], 4)
  B[broadcast(k * 7, 2) + ramp(4, 1, 2)] = A[ramp(4, 1, 2)] * broadcast(A[k], 2)
  B[k * 7 + 6] = A[6] * A[k]
}
)");
}

TEST(VectorizeLoops, CombinesTheLanesOfAReduction) {
  EXPECT_EQ(after(vectorize_loops, R"(
for i in 2 {
  vectorized for k in 4 {
    B[i] = B[i] + A[k + i]
  }
})"),
            R"(
for i in 2 {
  B[i] = B[i] + reduce_add(A[ramp(0, 1, 4) + broadcast(i, 4)])
}
)");
}

TEST(VectorizeLoops, RunsLaneByLaneWhatHasNoVectorForm) {
  EXPECT_EQ(after(vectorize_loops, R"(
for k in 2 {
  vectorized for i in 4 {
    if (i < k + 1) {
      B[i] = A[i]
    }
  }
})"),
            R"(
for k in 2 {
  for i in 4 {
    if (i < k + 1) {
      B[i] = A[i]
    }
  }
}
)");
  EXPECT_EQ(after(vectorize_loops, R"(
vectorized for i in 2 {
  vectorized for j in 4 {
    B[i * 4 + j] = A[i]
  }
})"),
            R"(
for i in 2 {
  B[broadcast(i * 4, 4) + ramp(0, 1, 4)] = broadcast(A[i], 4)
}
)");
}

TEST(Flatten, MakesOneIndex) {
  const auto kernel = ir::parse_kernel(R"(kernel k(A: f32[4, 8], B: f32[8, 4]) {
  alloc T: f32[2, 3] stack {
    for i in 4 {
      for j in 8 {
        T[1, 2] = A[i, j]
        B[j, i] = T[1, 2]
      }
    }
  }
}
)");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(ir::to_string(flatten(*kernel)), R"(kernel k(A: f32[32], B: f32[32]) {
  alloc T: f32[6] stack {
    for i in 4 {
      for j in 8 {
        T[5] = A[i * 8 + j]
        B[j * 4 + i] = T[5]
      }
    }
  }
}
)");
}

TEST(Passes, HaveNamesAndMeanings) {
  for (const Pass& pass : passes()) {
    EXPECT_FALSE(pass.name.empty());
    EXPECT_FALSE(pass.meaning.empty());
  }
}

}  // namespace
}  // namespace attune::lower
