// The table of what one user may take of another's scheduler, as the documentation shows it.
#include "fleet/jobs/book/user_limits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace attune {
namespace {

// The lines between the head of the table and the first that is none of it.
std::vector<std::string> documented(const std::string& head) {
  std::ifstream file(test::golden_directory() / "../../docs/security.md");
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(file, line) && line != head) {
  }
  std::getline(file, line);  // "|---|---|"
  while (std::getline(file, line) && line.starts_with("| ")) lines.push_back(line);
  return lines;
}

TEST(UserLimits, AreThoseThatTheDocumentationShows) {
  std::vector<std::string> table;
  std::set<std::string> things;
  for (const jobs::UserLimit& limit : jobs::user_limits()) {
    table.push_back(fmt::format("| {} | {} |", limit.what, limit.most));
    EXPECT_TRUE(things.insert(limit.what).second) << limit.what;
  }
  EXPECT_EQ(documented("| one user who is not the scheduler's may have | at most |"), table);
}

}  // namespace
}  // namespace attune
