#include "targets/cuda/device/architecture.h"

#include <gtest/gtest.h>

namespace attune::cuda {
namespace {

Architecture of(std::string_view text) { return parse_architecture(text).value(); }

TEST(CudaArchitecture, HasAName) {
  EXPECT_EQ(of("sm_90a"), (Architecture{9, 0, 'a'}));
  EXPECT_EQ(of("sm_120"), (Architecture{12, 0, 0}));
  EXPECT_EQ(to_string(of("sm_103f")), "sm_103f");
  for (const std::string_view text :
       {"", "sm_", "sm_9", "sm_9000", "sm_90b", "sm_9a", "sm_090", "90", "sm_90aa", "sm_ 90"}) {
    EXPECT_FALSE(parse_architecture(text)) << text;
  }
}

TEST(CudaArchitecture, MachineCodeRunsOnLaterCardsOfItsGeneration) {
  EXPECT_TRUE(runs_on(of("sm_80"), of("sm_86")));
  EXPECT_FALSE(runs_on(of("sm_86"), of("sm_80")));
  EXPECT_FALSE(runs_on(of("sm_80"), of("sm_90")));
  EXPECT_TRUE(runs_on(of("sm_90a"), of("sm_90")));
  EXPECT_FALSE(runs_on(of("sm_100a"), of("sm_103")));
  EXPECT_TRUE(runs_on(of("sm_100f"), of("sm_103")));
}

TEST(CudaArchitecture, PtxIsTranslatedForLaterCards) {
  EXPECT_TRUE(translates_on(of("sm_80"), of("sm_120")));
  EXPECT_FALSE(translates_on(of("sm_120"), of("sm_90")));
  EXPECT_FALSE(translates_on(of("sm_90a"), of("sm_100")));
}

TEST(CudaArchitecture, BestForACardIsAllThatItHas) {
  EXPECT_EQ(to_string(best_for(8, 9)), "sm_89");
  EXPECT_EQ(to_string(best_for(9, 0)), "sm_90a");
}

}  // namespace
}  // namespace attune::cuda
