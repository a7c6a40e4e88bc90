// layout: the order of a stage's elements in memory.
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

constexpr std::int64_t kMostInTerm = 1 << 30;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 ||
      value > kMostInTerm) {
    return {};
  }
  return value;
}

Result<LayoutTerm> parse_term(const ir::Stage& stage, std::string_view text) {
  const Error wrong =
      invalid(fmt::format("'{}' is not a layout term of stage '{}'", text, stage.name),
              "write AXIS, AXIS/D, AXIS%M or AXIS/D%M");
  LayoutTerm term{-1, 1, 0};
  std::string_view rest = text;
  if (const auto at = rest.find('%'); at != std::string_view::npos) {
    const auto value = number(rest.substr(at + 1));
    if (!value) return wrong;
    term.modulo = *value;
    rest = rest.substr(0, at);
  }
  if (const auto at = rest.find('/'); at != std::string_view::npos) {
    const auto value = number(rest.substr(at + 1));
    if (!value) return wrong;
    term.divide = *value;
    rest = rest.substr(0, at);
  }
  for (std::size_t i = 0; i < stage.axes.size(); ++i) {
    if (stage.axes[i].name == rest) term.axis = static_cast<int>(i);
  }
  if (term.axis < 0) return wrong;
  return term;
}

// The terms of each axis, sorted by divisor, must chain: the finest has divisor 1, each next
// divisor is the one before times its modulus, and only the coarsest has no modulus.
// AXIS%1 is a dimension of one element and may stand anywhere. Returns how many terms there are; 0
// when they do not chain up to the coarsest.
std::size_t chained_terms(const std::vector<LayoutTerm>& terms, int axis) {
  std::size_t count = 0;
  for (const LayoutTerm& term : terms) count += term.axis == axis && term.modulo == 1;
  std::int64_t divisor = 1;
  while (count < terms.size()) {
    const LayoutTerm* found = nullptr;
    for (const LayoutTerm& term : terms) {
      if (term.axis == axis && term.divide == divisor && term.modulo != 1) found = &term;
    }
    if (!found) return 0;
    ++count;
    if (found->modulo == 0) return count;
    divisor *= found->modulo;
  }
  return 0;
}

}  // namespace

Status apply_step(State& state, const Layout& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "its layout"));
  StageState& stage = state.edit(index);
  stage.layout.clear();
  for (const std::string& text : step.terms) {
    ATTUNE_ASSIGN(const LayoutTerm term, parse_term(stage.stage, text));
    stage.layout.push_back(term);
  }
  std::size_t chained = 0;
  for (std::size_t axis = 0; axis < stage.stage.axes.size(); ++axis) {
    const std::size_t terms = chained_terms(stage.layout, static_cast<int>(axis));
    chained += terms;
    if (terms == 0) {
      return invalid(fmt::format("the layout of stage '{}' does not store axis '{}' once",
                                 step.stage, stage.stage.axes[axis].name),
                     "its terms must chain, like i/16 i%16");
    }
  }
  if (chained != stage.layout.size()) {
    return invalid(fmt::format("the layout of stage '{}' stores an axis twice", step.stage),
                   "its terms must chain, like i/16 i%16");
  }
  return {};
}

}  // namespace attune::schedule
