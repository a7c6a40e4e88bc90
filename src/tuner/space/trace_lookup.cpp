#include "tuner/space/trace_lookup.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "compiler/schedule/algorithm.h"

namespace attune::space {
namespace {

constexpr std::uint64_t kAllLookedAt = 1 << 13;
constexpr std::size_t kSize = 32;

// The words of all steps, as hashes, each with its step and its place therein, in order, and a
// weight. Sizes weigh most, as orders of loops may follow from them, and of those the inner ones,
// as the outer sizes of a split may follow from them.
using Words = std::vector<std::pair<std::uint64_t, std::size_t>>;

// Kind, stage and loop are one word together.
void add_words(std::string_view step, Words& words) {
  constexpr std::size_t kHead = 3;
  std::uint64_t head = 0;
  for (std::size_t place = 0; !step.empty(); ++place) {
    const std::string_view word = step.substr(0, step.find(' '));
    step.remove_prefix(std::min(step.size(), word.size() + 1));
    const std::uint64_t named = hash_combine(place, hash_bytes(word));
    if (place < kHead) {
      head = hash_combine(head, named);
      if (place + 1 == kHead || step.empty()) words.emplace_back(head, 1);
      continue;
    }
    const bool size = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    words.emplace_back(hash_combine(head, named), size ? kSize * (place + 1 - kHead) : 1);
  }
}

Words words_of(const schedule::Trace& trace) {
  Words words;
  for (const schedule::Step& step : trace) add_words(schedule::to_string(step), words);
  std::sort(words.begin(), words.end());
  return words;
}

// The weight of the words that only one of the two has.
std::size_t difference(const Words& a, const Words& b) {
  std::size_t sum = 0;
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && *i < *j)) {
      sum += (i++)->second;
    } else if (i == a.end() || *j < *i) {
      sum += (j++)->second;
    } else {
      ++i, ++j;
    }
  }
  return sum;
}

// Where a climb stands.
struct Climber {
  const Space& space;
  const Words& wanted;
  Point point;
  std::size_t left;

  // Whether another choice of this knob comes nearer; stands there then. The others are as in
  // `from`.
  bool turn(const Point& from, std::size_t knob) {
    bool better = false;
    Point other = from;
    const std::size_t choices = space.knobs(from.alternative)[knob].choices.size();
    for (std::uint32_t choice = 0; choice < choices && left > 0; ++choice) {
      other.choices[knob] = choice;
      const std::size_t d = difference(words_of(space.trace_of(other)), wanted);
      if (d >= left) continue;
      left = d;
      point = other;
      better = true;
    }
    return better;
  }

  bool turn_one() {
    bool better = false;
    for (std::size_t knob = 0; knob < point.choices.size(); ++knob) better |= turn(point, knob);
    return better;
  }

  // Two knobs may have to change at once, such as those that a size is the product of.
  bool turn_two() {
    const Point from = point;
    const std::vector<Knob>& knobs = space.knobs(from.alternative);
    for (std::size_t a = 0; a < knobs.size(); ++a) {
      Point other = from;
      for (std::uint32_t choice = 0; choice < knobs[a].choices.size(); ++choice) {
        other.choices[a] = choice;
        for (std::size_t b = a + 1; b < knobs.size(); ++b) {
          if (turn(other, b)) return true;
        }
      }
    }
    return false;
  }
};

}  // namespace

std::optional<Point> TraceLookup::find(const schedule::Trace& trace) {
  std::optional<Point> found = find_any(trace);
  if (!found) return found;
  // Knobs that do not matter stay as they are by default: other choices may be rejected.
  const std::uint64_t wanted = schedule::hash(trace);
  for (const Point& usual : space_.defaults()) {
    if (usual.alternative != found->alternative) continue;
    for (std::size_t knob = 0; knob < usual.choices.size(); ++knob) {
      Point plain = *found;
      plain.choices[knob] = usual.choices[knob];
      if (schedule::hash(space_.trace_of(plain)) == wanted) found = std::move(plain);
    }
  }
  return found;
}

std::optional<Point> TraceLookup::find_any(const schedule::Trace& trace) {
  if (space_.size() == 0) return std::nullopt;
  if (space_.size() > kAllLookedAt) return climb(trace);
  if (index_by_hash_.empty()) {
    for (std::uint64_t i = 0; i < space_.size(); ++i) {
      index_by_hash_.emplace(schedule::hash(space_.trace_of(space_.point_at(i))), i);
    }
  }
  const auto found = index_by_hash_.find(schedule::hash(trace));
  if (found == index_by_hash_.end()) return std::nullopt;
  return space_.point_at(found->second);
}

std::optional<Point> TraceLookup::climb(const schedule::Trace& trace) const {
  const Words wanted = words_of(trace);
  const std::string algorithm = schedule::algorithm_of(trace);
  for (Point& point : space_.defaults()) {
    const schedule::Trace begun = space_.trace_of(point);
    if (schedule::algorithm_of(begun) != algorithm) continue;
    Climber climber{space_, wanted, std::move(point), difference(words_of(begun), wanted)};
    while (climber.left > 0 && (climber.turn_one() || climber.turn_two())) {
    }
    if (schedule::hash(space_.trace_of(climber.point)) == schedule::hash(trace)) {
      return climber.point;
    }
  }
  return std::nullopt;
}

}  // namespace attune::space
