// A way to search, in words: "NAME" or "NAME:key=value,key=value…", e.g.
// "xgb:model=xgb-rank,batch=64,chains=128,steps=500". The keys are those of `attune tune`, and a
// few more.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tuner/explore/explorer.h"

namespace attune::bench {

struct Variant {
  std::string name;
  explore::SearchOptions search;
  std::size_t batch = 24;
  std::size_t trials = 0;        // 0: as many as all
  std::string history = "none";  // or the features that other tasks are learnt from by
  int repeats = 15;              // of a promising candidate, about a millisecond each
};

Result<Variant> parse_variant(std::string_view text);

}  // namespace attune::bench
