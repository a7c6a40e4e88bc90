// Knobs: what a template leaves open. A knob is a named list of choices, a choice a short list of
// numbers: the inner factors of a split (outermost first, as the step `split` takes them), a
// permutation, or a single number. The kind says how the numbers are meant (as in AutoTVM), so that
// features and reports can tell tile sizes from switches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune::space {

enum class KnobKind : std::uint8_t { Split, Choice, Annotate, Reorder };
std::string_view to_string(KnobKind kind);

struct Choice {
  std::vector<std::int64_t> numbers;
  friend bool operator==(const Choice&, const Choice&) = default;
};
// The numbers with 'x' between them: "6", "4x16".
std::string to_string(const Choice& choice);
std::optional<Choice> parse_choice(std::string_view text);

struct Knob {
  std::string name;  // letters, digits, '_' and '.'
  KnobKind kind = KnobKind::Choice;
  std::vector<Choice> choices;  // at least one, no two alike
};

// Splits of a loop of `extent` iterations into one outer and `inner` inner loops; the choices hold
// the inner factors, and `max_product` bounds their product (0: no bound).
// All factors that divide without rest.
Knob split_divisors(std::string name, std::int64_t extent, int inner, std::int64_t max_product = 0);
// Powers of two up to the first that covers the extent, dividing or not.
Knob split_powers_of_two(std::string name, std::int64_t extent, int inner,
                         std::int64_t max_product = 0);
// One inner factor; all tile sizes t <= max_tile that cut the extent into ceil(extent / t) tiles of
// nearly equal width: 14 -> 1, 2, 3, 4, 5, 7, 14.
Knob split_even_tails(std::string name, std::int64_t extent, std::int64_t max_tile);
// One inner factor; these, cut to the extent, without repetitions.
Knob split_list(std::string name, std::int64_t extent, const std::vector<std::int64_t>& tiles);

// One number each; repetitions are dropped.
Knob choice_of(std::string name, const std::vector<std::int64_t>& values);
Knob annotate_with(std::string name, const std::vector<std::int64_t>& values);
// Permutations of 0 … n-1, given as lists.
Knob reorder_among(std::string name, std::vector<std::vector<std::int64_t>> orders);

// The position of a choice, or of the one nearest to it (by the logarithms of the numbers).
std::size_t nearest_choice(const Knob& knob, const Choice& wanted);

}  // namespace attune::space
