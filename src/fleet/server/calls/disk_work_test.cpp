#include "fleet/server/calls/disk_work.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace attune::server {
namespace {

TEST(DiskWork, IsDoneInOrderAndAllBeforeItStops) {
  std::promise<void> may_go;
  std::vector<int> done;
  DiskWork work;
  work.add([&, wait = may_go.get_future().share()] { wait.wait(); });
  for (int i = 0; i < 3; ++i) work.add([&done, i] { done.push_back(i); });
  may_go.set_value();
  work.stop();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
  work.add([&] { done.push_back(3); });
  work.stop();
  EXPECT_EQ(done.size(), 3u);
}

}  // namespace
}  // namespace attune::server
