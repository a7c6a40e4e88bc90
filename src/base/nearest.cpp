#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace attune {
namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> choices) {
  std::string best;
  std::size_t least = std::max<std::size_t>(word.size() / 2, 1) + 1;
  for (const std::string& choice : choices) {
    const std::size_t distance = edit_distance(word, choice);
    if (distance >= least) continue;
    least = distance;
    best = choice;
  }
  return best;
}

}  // namespace attune
