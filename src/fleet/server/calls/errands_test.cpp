#include "fleet/server/calls/errands.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace attune::server {
namespace {

TEST(Errands, AreDoneInOrderAndAllBeforeItStops) {
  std::promise<void> may_go;
  std::vector<int> done;
  Errands errands;
  errands.add([&, wait = may_go.get_future().share()] { wait.wait(); });
  for (int i = 0; i < 3; ++i) errands.add([&done, i] { done.push_back(i); });
  may_go.set_value();
  errands.stop();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
  errands.add([&] { done.push_back(3); });
  errands.stop();
  EXPECT_EQ(done.size(), 3u);
}

}  // namespace
}  // namespace attune::server
