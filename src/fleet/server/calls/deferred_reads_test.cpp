#include "fleet/server/calls/deferred_reads.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace attune::server {
namespace {

TEST(DeferredReads, AreDoneInOrderAndAllBeforeItStops) {
  std::promise<void> may_go;
  std::vector<int> done;
  DeferredReads reads;
  reads.add([&, wait = may_go.get_future().share()] { wait.wait(); });
  for (int i = 0; i < 3; ++i) reads.add([&done, i] { done.push_back(i); });
  may_go.set_value();
  reads.stop();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
  reads.add([&] { done.push_back(3); });
  reads.stop();
  EXPECT_EQ(done.size(), 3u);
}

}  // namespace
}  // namespace attune::server
