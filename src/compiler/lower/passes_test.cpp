// The passes over loops and their guards, one by one.
#include "compiler/lower/lower.h"
#include "compiler/lower/passes_testing.h"

namespace attune::lower {
namespace {

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

// 32 lines, of which each of two repetitions asks for a half.
TEST(PrefetchLoads, AsksForAllThatALongStepReads) {
  const std::string text = text_of(changed_by(prefetch_loads, R"(
for p in 1 {
  for r in 2 {
    for k in 1 with prefetch = next {
      for j in 512 {
        B[j] = A[p * 512 + k * 512 + j]
      }
    }
  }
})",
                                              {.read = 512, .written = 512})
                                       .body);
  std::size_t requests = 0;
  for (std::size_t at = 0; (at = text.find("@prefetch", at)) != std::string::npos; ++at) ++requests;
  EXPECT_EQ(requests, 16) << text;
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

TEST(Passes, HaveNamesAndMeanings) {
  for (const Pass& pass : vector_pipeline()) {
    EXPECT_FALSE(pass.name.empty());
    EXPECT_FALSE(pass.meaning.empty());
  }
}

}  // namespace
}  // namespace attune::lower
