#include "bench/search/variant.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>

#include "tuner/features/features.h"

namespace attune::bench {
namespace {

using Set = std::function<Status(Variant&, const std::string&)>;

template <typename Number>
Status read(const std::string& text, Number& into) {
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, into);
  if (stop == end && failure == std::errc()) return {};
  return invalid(fmt::format("'{}' is not a number", text));
}

// A setter of a number that `member` finds in a variant.
template <typename Member>
Set number(Member member) {
  return [member](Variant& v, const std::string& text) { return read(text, member(v)); };
}

template <typename Member>
Set words(Member member) {
  return [member](Variant& v, const std::string& text) -> Status {
    member(v) = text;
    return {};
  };
}

template <typename Member>
Set flag(Member member) {
  return [member](Variant& v, const std::string& text) -> Status {
    if (text != "0" && text != "1") return invalid(fmt::format("'{}' is neither 0 nor 1", text));
    member(v) = text == "1";
    return {};
  };
}

const std::map<std::string, Set>& setters() {
  static const std::map<std::string, Set> all{
      {"explorer", words([](Variant & v) -> auto& { return v.search.explorer; })},
      {"model", words([](Variant & v) -> auto& { return v.search.learner.name; })},
      {"features", words([](Variant & v) -> auto& { return v.search.learner.features; })},
      {"analytic", words([](Variant & v) -> auto& { return v.search.learner.analytic; })},
      {"acquisition", words([](Variant & v) -> auto& { return v.search.learner.acquisition; })},
      {"ensemble", number([](Variant & v) -> auto& { return v.search.learner.ensemble; })},
      {"optimism", number([](Variant & v) -> auto& { return v.search.learner.optimism; })},
      {"batch", number([](Variant & v) -> auto& { return v.batch; })},
      {"trials", number([](Variant & v) -> auto& { return v.trials; })},
      {"repeats", number([](Variant & v) -> auto& { return v.repeats; })},
      {"history", words([](Variant & v) -> auto& { return v.history; })},
      {"epsilon", number([](Variant & v) -> auto& { return v.search.random_share; })},
      {"diversity", number([](Variant & v) -> auto& { return v.search.new_choice; })},
      {"pool", number([](Variant & v) -> auto& { return v.search.pool; })},
      {"chains", number([](Variant & v) -> auto& { return v.search.chains; })},
      {"steps", number([](Variant & v) -> auto& { return v.search.steps; })},
      {"first_steps", number([](Variant & v) -> auto& { return v.search.first_steps; })},
      {"hot", number([](Variant & v) -> auto& { return v.search.hot; })},
      {"cold", number([](Variant & v) -> auto& { return v.search.cold; })},
      {"whole", number([](Variant & v) -> auto& { return v.search.score_whole; })},
      {"population", number([](Variant & v) -> auto& { return v.search.population; })},
      {"elites", number([](Variant & v) -> auto& { return v.search.elites; })},
      {"mutation", number([](Variant & v) -> auto& { return v.search.mutation; })},
      {"reject", flag([](Variant & v) -> auto& { return v.search.reject_hopeless; })},
      {"defaults", flag([](Variant & v) -> auto& { return v.search.defaults_first; })},
  };
  return all;
}

}  // namespace

Result<Variant> parse_variant(std::string_view text) {
  const std::size_t colon = text.find(':');
  Variant variant{.name = std::string(text.substr(0, colon)), .search = {}};
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string pair(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const auto setter = setters().find(pair.substr(0, equals));
    if (equals == std::string::npos || setter == setters().end()) {
      return invalid(fmt::format("variant '{}' has no setting '{}'", variant.name, pair));
    }
    ATTUNE_RETURN_IF_ERROR(setter->second(variant, pair.substr(equals + 1)));
  }
  ATTUNE_RETURN_IF_ERROR(explore::check(variant.search));
  if (variant.history == "none") return variant;
  ATTUNE_RETURN_IF_ERROR(features::parse_kind(variant.history));
  return variant;
}

}  // namespace attune::bench
