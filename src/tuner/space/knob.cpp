#include "tuner/space/knob.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/check.h"

namespace attune::space {
namespace {

void add_once(std::vector<Choice>& choices, Choice choice) {
  if (std::find(choices.begin(), choices.end(), choice) == choices.end()) {
    choices.push_back(std::move(choice));
  }
}

Knob single_numbers(std::string name, KnobKind kind, const std::vector<std::int64_t>& values) {
  Knob knob{std::move(name), kind, {}};
  for (std::int64_t value : values) add_once(knob.choices, {{value}});
  CHECK(!knob.choices.empty(), "knob '" + knob.name + "' has no choices");
  return knob;
}

// All lists of `left` factors from `candidates` (ascending) that `fits` accepts by their product.
template <typename Fits>
void factor_lists(const std::vector<std::int64_t>& candidates, int left, std::int64_t product,
                  Choice& prefix, const Fits& fits, std::vector<Choice>& out) {
  if (left == 0) {
    out.push_back(prefix);
    return;
  }
  for (std::int64_t factor : candidates) {
    if (!fits(product * factor)) continue;
    prefix.numbers.push_back(factor);
    factor_lists(candidates, left - 1, product * factor, prefix, fits, out);
    prefix.numbers.pop_back();
  }
}

// The inner factors that the policy allows, ascending.
std::vector<std::int64_t> factors_of(const SplitRule& rule, std::int64_t largest) {
  const SplitPolicy policy = rule.policy;
  std::set<std::int64_t> factors;
  if (policy == SplitPolicy::Factors || policy == SplitPolicy::Verbose) {
    for (std::int64_t d = 1; d * d <= rule.extent; ++d) {
      if (rule.extent % d == 0) factors.insert({d, rule.extent / d});
    }
  }
  if (policy == SplitPolicy::PowersOfTwo || policy == SplitPolicy::Verbose) {
    for (std::int64_t power = 1; power <= largest; power *= 2) factors.insert(power);
  }
  if (policy == SplitPolicy::All) {
    const std::int64_t last = rule.max_factor > 0 ? std::min(rule.max_factor, largest) : largest;
    for (std::int64_t size = 1; size <= last; ++size) factors.insert(size);
  }
  return {factors.begin(), factors.end()};
}

// All ways to take the loops of the groups in turns: `taken` of each are placed already.
void interleave(const std::vector<int>& group_sizes, std::vector<int>& taken, Choice& order,
                std::vector<Choice>& out) {
  std::int64_t first = 0;
  bool complete = true;
  for (std::size_t g = 0; g < group_sizes.size(); ++g) {
    if (taken[g] < group_sizes[g]) {
      complete = false;
      order.numbers.push_back(first + taken[g]++);
      interleave(group_sizes, taken, order, out);
      --taken[g];
      order.numbers.pop_back();
    }
    first += group_sizes[g];
  }
  if (complete) out.push_back(order);
}

double distance(const Choice& a, const Choice& b) {
  if (a.numbers.size() != b.numbers.size()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const double x = static_cast<double>(a.numbers[i]), y = static_cast<double>(b.numbers[i]);
    sum += x > 0 && y > 0 ? std::abs(std::log(x / y)) : std::abs(x - y);
  }
  return sum;
}

}  // namespace

std::string_view to_string(KnobKind kind) {
  switch (kind) {
    case KnobKind::Split:
      return "split";
    case KnobKind::Choice:
      return "choice";
    case KnobKind::Annotate:
      return "annotate";
    case KnobKind::Reorder:
      return "reorder";
  }
  return "choice";
}

std::string to_string(const Choice& choice) {
  std::string text;
  for (std::int64_t number : choice.numbers) {
    if (!text.empty()) text += 'x';
    text += std::to_string(number);
  }
  return text;
}

std::optional<Choice> parse_choice(std::string_view text) {
  Choice choice;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return std::nullopt;
    choice.numbers.push_back(number);
    if (next == end) return choice;
    if (*next != 'x') return std::nullopt;
    at = next + 1;
  }
}

Knob split_by(std::string name, const SplitRule& rule) {
  CHECK(rule.extent > 0 && rule.parts > 1, "a loop of some iterations is split in two at least");
  const bool powers =
      rule.policy == SplitPolicy::PowersOfTwo || rule.policy == SplitPolicy::Verbose;
  std::int64_t covering = 1;
  while (covering < rule.extent) covering *= 2;
  const std::int64_t largest = powers && rule.tails ? covering : rule.extent;
  std::vector<std::int64_t> candidates;
  for (const std::int64_t factor : factors_of(rule, largest)) {
    if (rule.max_factor == 0 || factor <= rule.max_factor) candidates.push_back(factor);
  }
  const auto fits = [&](std::int64_t product) {
    return product <= largest && (rule.max_product == 0 || product <= rule.max_product) &&
           (rule.tails || rule.extent % product == 0);
  };
  Knob knob{std::move(name), KnobKind::Split, {}};
  Choice prefix;
  factor_lists(candidates, rule.parts - 1, 1, prefix, fits, knob.choices);
  std::erase_if(knob.choices,
                [&](const Choice& each) { return each.numbers.back() < rule.min_innermost; });
  CHECK(!knob.choices.empty(), "knob '" + knob.name + "' has no choices");
  return knob;
}

Knob split_even_tails(std::string name, std::int64_t extent, std::int64_t max_tile) {
  CHECK(extent > 0 && max_tile > 0, "tiles of a loop have at least one iteration");
  std::vector<std::int64_t> tiles;
  for (std::int64_t tile = 1; tile <= std::min(extent, max_tile); ++tile) {
    const std::int64_t count = (extent + tile - 1) / tile;
    if ((extent + count - 1) / count == tile) tiles.push_back(tile);
  }
  return single_numbers(std::move(name), KnobKind::Split, tiles);
}

Knob split_list(std::string name, std::int64_t extent, const std::vector<std::int64_t>& tiles) {
  std::vector<std::int64_t> cut;
  for (std::int64_t tile : tiles) cut.push_back(std::min(tile, extent));
  return single_numbers(std::move(name), KnobKind::Split, cut);
}

Knob choice_of(std::string name, const std::vector<std::int64_t>& values) {
  return single_numbers(std::move(name), KnobKind::Choice, values);
}

Knob annotate_with(std::string name, const std::vector<std::int64_t>& values) {
  return single_numbers(std::move(name), KnobKind::Annotate, values);
}

Knob reorder_among(std::string name, std::vector<std::vector<std::int64_t>> orders) {
  Knob knob{std::move(name), KnobKind::Reorder, {}};
  for (auto& order : orders) add_once(knob.choices, {std::move(order)});
  CHECK(!knob.choices.empty(), "knob '" + knob.name + "' has no choices");
  return knob;
}

Knob reorder_all(std::string name, int loops) {
  CHECK(loops > 0, "there are loops to reorder");
  std::vector<std::int64_t> order(static_cast<std::size_t>(loops));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<std::int64_t>> orders;
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return reorder_among(std::move(name), std::move(orders));
}

Knob reorder_interleaved(std::string name, const std::vector<int>& group_sizes) {
  Knob knob{std::move(name), KnobKind::Reorder, {}};
  std::vector<int> taken(group_sizes.size(), 0);
  Choice order;
  interleave(group_sizes, taken, order, knob.choices);
  return knob;
}

Knob annotate_loops(std::string name, int loops, AnnotatePolicy policy) {
  CHECK(loops > 0, "there are loops to annotate");
  const auto count = static_cast<std::size_t>(loops);
  const auto unroll = static_cast<std::int64_t>(Annotation::Unroll);
  const auto vectorize = static_cast<std::int64_t>(Annotation::Vectorize);
  const bool tries = policy != AnnotatePolicy::Unroll && policy != AnnotatePolicy::Vectorize;
  const bool unrolls =
      policy != AnnotatePolicy::Vectorize && policy != AnnotatePolicy::TryVectorize;
  const bool in_vectors = policy != AnnotatePolicy::Unroll && policy != AnnotatePolicy::TryUnroll;
  Knob knob{std::move(name), KnobKind::Annotate, {}};
  for (const bool vectors : {false, true}) {
    if (vectors ? !in_vectors : in_vectors && !tries) continue;
    const std::size_t open = count - (vectors ? 1 : 0);
    for (std::size_t unrolled = 0; unrolled <= (unrolls ? open : 0); ++unrolled) {
      if (unrolls && !tries && unrolled < open) continue;
      Choice choice{std::vector<std::int64_t>(count, 0)};
      if (vectors) choice.numbers.back() = vectorize;
      for (std::size_t i = 0; i < unrolled; ++i) choice.numbers[open - 1 - i] = unroll;
      knob.choices.push_back(std::move(choice));
    }
  }
  return knob;
}

std::size_t nearest_choice(const Knob& knob, const Choice& wanted) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < knob.choices.size(); ++i) {
    const double d = distance(knob.choices[i], wanted);
    if (d < least) least = d, best = i;
  }
  return best;
}

}  // namespace attune::space
