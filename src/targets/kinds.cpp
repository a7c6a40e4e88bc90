#include "targets/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/nearest.h"

#define ATTUNE_FACTS(kind)               \
  namespace attune::kind {               \
  extern const target::Kind target_kind; \
  }
#include "targets/list.inc"

namespace attune::targets {
namespace {

using target::Kind;
using target::Target;

constexpr int kMostThreads = 1024;

std::string hint_for(const Kind& kind) {
  return fmt::format("write a target like '{}'", kind.example);
}

const Kind* find_kind(std::string_view name) {
  const auto all = kinds();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Kind* kind) { return kind->name == name; });
  return found == all.end() ? nullptr : *found;
}

Error unknown_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind* kind : kinds()) names.emplace_back(kind->name);
  const std::string near = nearest(name, names);
  return invalid(fmt::format("unknown target kind '{}'", name),
                 fmt::format("{}the kinds are {}; {}",
                             near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                             fmt::join(names, ", "), hint_for(default_kind())));
}

Status set_threads(Target& target, std::string_view value, const Kind& kind) {
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error != std::errc{} || end != value.data() + value.size() || threads < 1 ||
      threads > kMostThreads) {
    return invalid(
        fmt::format("thread count '{}' of the target is not between 1 and {}", value, kMostThreads),
        hint_for(kind));
  }
  target.threads = threads;
  return {};
}

Status set_attribute(Target& target, std::string_view word, const Kind& kind) {
  const auto equals = word.find('=');
  if (word.empty() || word[0] != '-' || equals == std::string_view::npos) {
    return invalid(fmt::format("'{}' is not a target attribute", word), hint_for(kind));
  }
  const auto name = word.substr(1, equals - 1);
  const auto value = word.substr(equals + 1);
  const bool is_threads = name == "threads";
  const bool given = is_threads ? target.threads > 0 : !target.attribute(name).empty();
  if (given) {
    return invalid(fmt::format("attribute '{}' of the target is given twice", name),
                   hint_for(kind));
  }
  if (is_threads) return set_threads(target, value, kind);
  if (std::find(kind.attributes.begin(), kind.attributes.end(), name) == kind.attributes.end()) {
    return invalid(fmt::format("unknown target attribute '{}'", name), hint_for(kind));
  }
  if (value.empty()) {
    return invalid(fmt::format("attribute '{}' of the target has no value", name), hint_for(kind));
  }
  target.set(name, value);
  return {};
}

// The attributes in the order of the kind.
void put_in_order(Target& target, const Kind& kind) {
  const auto place = [&](const auto& attribute) {
    return std::find(kind.attributes.begin(), kind.attributes.end(), attribute.first);
  };
  std::stable_sort(target.attributes.begin(), target.attributes.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

}  // namespace

std::span<const Kind* const> kinds() {
  static constexpr const Kind* all[] = {
#define ATTUNE_FACTS(kind) &kind::target_kind,
#include "targets/list.inc"
  };
  return all;
}

const Kind& default_kind() { return *kinds().front(); }

Result<Target> this_machine() { return resolve(Target{}); }

const Kind& kind_of(const Target& target) {
  const Kind* kind = find_kind(target.kind);
  CHECK(kind != nullptr, "a target of the unknown kind '" + target.kind + "'");
  return *kind;
}

Result<Target> parse(std::string_view text) {
  Target target;
  const Kind* kind = nullptr;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    if (kind == nullptr) {
      kind = find_kind(word);
      if (kind == nullptr) return unknown_kind(word);
      target.kind = word;
      continue;
    }
    ATTUNE_RETURN_IF_ERROR(set_attribute(target, word, *kind));
  }
  if (kind == nullptr) return unknown_kind("");
  put_in_order(target, *kind);
  return target;
}

Result<Target> resolve(const Target& target) {
  const Kind* kind = find_kind(target.kind);
  if (kind == nullptr) return unknown_kind(target.kind);
  ATTUNE_ASSIGN(Target resolved, kind->resolve(target));
  put_in_order(resolved, *kind);
  return resolved;
}

}  // namespace attune::targets
