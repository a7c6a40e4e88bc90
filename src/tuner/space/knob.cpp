#include "tuner/space/knob.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

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

template <typename Fits>
Knob split_knob(std::string name, int inner, const std::vector<std::int64_t>& candidates,
                const Fits& fits) {
  Knob knob{std::move(name), KnobKind::Split, {}};
  Choice prefix;
  factor_lists(candidates, inner, 1, prefix, fits, knob.choices);
  CHECK(!knob.choices.empty(), "knob '" + knob.name + "' has no choices");
  return knob;
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

Knob split_divisors(std::string name, std::int64_t extent, int inner, std::int64_t max_product) {
  CHECK(extent > 0, "a loop has at least one iteration");
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= extent; ++d) {
    if (extent % d != 0) continue;
    divisors.push_back(d);
    if (d * d != extent) divisors.push_back(extent / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return split_knob(std::move(name), inner, divisors, [&](std::int64_t product) {
    return product <= extent && extent % product == 0 &&
           (max_product == 0 || product <= max_product);
  });
}

Knob split_powers_of_two(std::string name, std::int64_t extent, int inner,
                         std::int64_t max_product) {
  CHECK(extent > 0, "a loop has at least one iteration");
  std::vector<std::int64_t> powers{1};
  while (powers.back() < extent) powers.push_back(powers.back() * 2);
  const std::int64_t largest = powers.back();
  return split_knob(std::move(name), inner, powers, [&](std::int64_t product) {
    return product <= largest && (max_product == 0 || product <= max_product);
  });
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
