#include "fleet/jobs/book/job_names.h"

#include <gtest/gtest.h>

namespace attune::jobs {
namespace {

TEST(JobNames, TheLeastNumberThatIsFreeIsTaken) {
  JobNames names;
  for (const char* expected : {"net", "net-2", "net-3"}) {
    const std::string name = names.take_free(1, "net");
    EXPECT_EQ(name, expected);
    names.open(1, name, 0);
  }
  EXPECT_EQ(names.take_free(2, "net"), "net") << "names are their users' own";
  names.close(1, "net-2");
  EXPECT_EQ(names.take_free(1, "net"), "net-2");
  names.open(1, "net-2", 0);
  EXPECT_EQ(names.take_free(1, "net"), "net-4");
}

TEST(JobNames, ThoseThatSomebodyGaveAreLeftOut) {
  JobNames names;
  names.open(1, "net", 0);
  names.open(1, "net-3", 1);
  EXPECT_EQ(names.take_free(1, "net"), "net-2");
  names.open(1, "net-2", 2);
  EXPECT_EQ(names.take_free(1, "net"), "net-4");
  names.close(1, "net-3");
  names.close(1, "net-4");  // was never opened
  EXPECT_EQ(names.take_free(1, "net"), "net-3");
}

TEST(JobNames, ManyAreNamedInTimeThatDoesNotGrow) {
  JobNames names;
  for (int i = 1; i <= 100'000; ++i) names.open(1, names.take_free(1, "net"), 0);
  EXPECT_EQ(names.open_of(1), 100'000u);
  EXPECT_TRUE(names.find_open(1, "net-100000").has_value());
  for (int i = 0; i < 1000; ++i) {
    names.close(1, "net-2");
    EXPECT_EQ(names.take_free(1, "net"), "net-2");
    names.open(1, "net-2", 0);
  }
}

TEST(JobNames, AreFoundUntilTheyAreRemoved) {
  JobNames names;
  names.add("net", 3);
  names.add("net", 7);
  EXPECT_EQ(names.called("net"), (std::set<std::size_t>{3, 7}));
  names.remove("net", 3);
  EXPECT_EQ(names.called("net"), (std::set<std::size_t>{7}));
  names.remove("net", 7);
  EXPECT_TRUE(names.called("net").empty());
}

}  // namespace
}  // namespace attune::jobs
