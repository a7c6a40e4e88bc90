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

// Which inner factors a split chooses from (as in AutoTVM).
enum class SplitPolicy : std::uint8_t {
  Factors,      // of the extent
  PowersOfTwo,  // up to the first that covers the extent
  Verbose,      // both
  All,          // every size
};

// A split of a loop into `parts` loops, of which the outermost takes what the others leave.
struct SplitRule {
  std::int64_t extent = 1;
  int parts = 2;
  SplitPolicy policy = SplitPolicy::Factors;
  bool tails = false;            // the product of the inner factors need not divide the extent
  std::int64_t max_factor = 0;   // of one inner loop; 0: no bound
  std::int64_t max_product = 0;  // of all inner loops
  std::int64_t min_innermost = 1;
};
// The choices hold the inner factors, outermost first.
Knob split_by(std::string name, const SplitRule& rule);
// One inner factor; all tile sizes t <= max_tile that cut the extent into ceil(extent / t) tiles of
// nearly equal width: 14 -> 1, 2, 3, 4, 5, 7, 14.
Knob split_even_tails(std::string name, std::int64_t extent, std::int64_t max_tile);
// One inner factor; these, cut to the extent, without repetitions.
Knob split_list(std::string name, std::int64_t extent, const std::vector<std::int64_t>& tiles);

// One number each; repetitions are dropped.
Knob choice_of(std::string name, const std::vector<std::int64_t>& values);
Knob annotate_with(std::string name, const std::vector<std::int64_t>& values);

// What may be done with a loop, and the numbers that stand for it.
enum class Annotation : std::uint8_t { None = 0, Unroll = 1, Vectorize = 2 };
enum class AnnotatePolicy : std::uint8_t {
  Unroll,        // all loops
  Vectorize,     // the innermost loop
  TryUnroll,     // the innermost ones or none
  TryVectorize,  // the innermost loop or none
  TryBoth,       // the innermost loop in vectors or not, those around it unrolled or not
};
// One annotation per loop, outermost first.
Knob annotate_loops(std::string name, int loops, AnnotatePolicy policy);

// Orders of n loops, given as the positions that they had before.
Knob reorder_among(std::string name, std::vector<std::vector<std::int64_t>> orders);
// All permutations, in lexicographic order.
Knob reorder_all(std::string name, int loops);
// All orders that leave the order within each group of loops as it is; the groups follow each other
// in the numbering.
Knob reorder_interleaved(std::string name, const std::vector<int>& group_sizes);

// The position of a choice, or of the one nearest to it (by the logarithms of the numbers).
std::size_t nearest_choice(const Knob& knob, const Choice& wanted);

}  // namespace attune::space
