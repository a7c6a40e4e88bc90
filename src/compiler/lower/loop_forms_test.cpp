// What loops become in the end: copies, vectors, one index.
#include "compiler/lower/flatten.h"
#include "compiler/lower/passes_testing.h"

namespace attune::lower {
namespace {

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

// Two loops that were fused: rows of seven, in parts of four.
TEST(DecideGuards, KeepsWhatRangesLeaveOpen) {
  const std::string text = after(decide_guards, R"(
for i in 4 {
  for j in 8 {
    if (i * 8 + j < 32) { B[i * 8 + j] = A[i * 8 + j] }
    if (i * 8 + j < 20) { B[i * 8 + j] = A[i] }
    if (i * 8 + j < 0) { B[0] = A[j] } else { B[1] = A[2] }
    if (j < 3) { if (j < 5) { B[j] = A[3] } }
  }
})");
  EXPECT_EQ(text.find("< 32"), std::string::npos) << text;
  EXPECT_NE(text.find("< 20"), std::string::npos) << text;
  EXPECT_EQ(text.find("B[0] ="), std::string::npos) << text;
  EXPECT_NE(text.find("B[1] ="), std::string::npos) << text;
  EXPECT_EQ(text.find("< 5"), std::string::npos) << text;
}

TEST(NameParts, LetsConditionsOnFusedLoopsBeDecidedOnce) {
  const std::string fused = R"(
parallel for f in 6 {
  vectorized for i in 4 {
    if (f % 2 * 4 + i < 7) {
      B[f / 2 * 7 + f % 2 * 4 + i] = A[i]
    }
  }
})";
  const auto both = [](const ir::Stmt& s) { return partition_loops(name_parts(s)); };
  EXPECT_EQ(after(both, fused), R"(
parallel for f in 6 {
  let f_part0 = f % 2 {
    if (f_part0 < 1) {
      vectorized for i in 4 {
        B[f / 2 * 7 + i] = A[i]
      }
    } else {
      vectorized for i in 3 {
        B[f / 2 * 7 + i + 4] = A[i]
      }
    }
  }
}
)");
}

ir::Stmt in_powers_of_two(const ir::Stmt& s) { return vectorize_loops(s); }

TEST(VectorizeLoops, MakesVectorsOfPowersOfTwo) {
  EXPECT_EQ(after(in_powers_of_two, R"(
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

TEST(VectorizeLoops, MakesOneVectorOfATailWhereThereAreMasks) {
  const auto masked = [](const ir::Stmt& s) { return vectorize_loops(s, {.masked_bytes = 4}); };
  EXPECT_EQ(after(masked, R"(
for k in 2 {
  vectorized for i in 7 {
    B[k * 7 + i] = A[i] * A[k]
  }
})"),
            R"(
for k in 2 {
  B[broadcast(k * 7, 7) + ramp(0, 1, 7)] = A[ramp(0, 1, 7)] * broadcast(A[k], 7)
}
)");
  // Elements of four bytes are too small for masks of eight.
  const auto larger = [](const ir::Stmt& s) { return vectorize_loops(s, {.masked_bytes = 8}); };
  EXPECT_EQ(after(larger, R"(
vectorized for i in 3 {
  B[i] = A[i]
})"),
            R"(
B[ramp(0, 1, 2)] = A[ramp(0, 1, 2)]
B[2] = A[2]
)");
}

TEST(VectorizeLoops, CombinesTheLanesOfAReduction) {
  EXPECT_EQ(after(in_powers_of_two, R"(
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
  EXPECT_EQ(after(in_powers_of_two, R"(
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
  EXPECT_EQ(after(in_powers_of_two, R"(
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

}  // namespace
}  // namespace attune::lower
