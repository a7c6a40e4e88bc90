#include "fleet/server/tokens.h"

#include <gtest/gtest.h>

#include <set>

namespace attune::server {
namespace {

using jobs::Standing;

TEST(Tokens, AreGoodOnce) {
  Tokens tokens;
  const std::string token = tokens.hand_out(7, Standing::Worker, 0);
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(tokens.use(token, 7, 1), Standing::Worker);
  EXPECT_EQ(tokens.use(token, 7, 1), std::nullopt);
}

TEST(Tokens, AreOfTheirUserAndForAWhile) {
  Tokens tokens;
  const std::string token = tokens.hand_out(7, Standing::Tuner, 0);
  EXPECT_EQ(tokens.use(token, 8, 1), std::nullopt);
  EXPECT_EQ(tokens.use(token, 7, 1), Standing::Tuner) << "another's try does not use it up";
  const std::string old = tokens.hand_out(7, Standing::Tuner, 0);
  EXPECT_EQ(tokens.use(old, 7, Tokens::kGoodSeconds), std::nullopt);
  EXPECT_EQ(tokens.use("", 7, 1), std::nullopt);
}

TEST(Tokens, OfOneUserAreBounded) {
  Tokens tokens;
  const std::string others = tokens.hand_out(8, Standing::Tuner, 0);
  const std::string first = tokens.hand_out(7, Standing::Tuner, 0);
  std::set<std::string> all;
  for (std::size_t i = 0; i < Tokens::kMostOfAUser; ++i) {
    all.insert(tokens.hand_out(7, Standing::Tuner, 1));
  }
  EXPECT_EQ(all.size(), Tokens::kMostOfAUser);
  EXPECT_EQ(tokens.use(first, 7, 2), std::nullopt);
  EXPECT_EQ(tokens.use(others, 8, 2), Standing::Tuner);
}

}  // namespace
}  // namespace attune::server
