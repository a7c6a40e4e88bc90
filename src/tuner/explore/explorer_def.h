// What an explorer is by name, and all of them, one file each.
#pragma once

#include "tuner/explore/explorer.h"

namespace attune::explore {

struct ExplorerDef {
  std::string_view name;
  Result<std::unique_ptr<Explorer>> (*make)(const SearchOptions&, const SearchContext&);
};

// For those that learn nothing.
template <typename Kind>
Result<std::unique_ptr<Explorer>> make(const SearchOptions& options, const SearchContext& context) {
  return std::unique_ptr<Explorer>(std::make_unique<Kind>(options, context));
}

#define ATTUNE_EXPLORER(name) ExplorerDef name##_explorer();
#include "tuner/explore/list.inc"

}  // namespace attune::explore
