// The options of `tune` that say how it searches and how it measures.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command_line.h"
#include "base/result.h"
#include "tuner/whole_model/tune.h"

namespace attune::cli {

class SearchArguments {
 public:
  // Lists them under a title of their own.
  explicit SearchArguments(CommandLine& line);
  // Puts what was given into the options; what would have no effect is refused.
  Status apply(whole_model::TuneOptions& options) const;

 private:
  Status check_effects(const explore::SearchOptions& search) const;

  explore::SearchOptions search_;
  std::string model_, features_, analytic_, acquisition_;  // empty: not given
  std::optional<std::int64_t> ensemble_, batch_, chains_, steps_, repeats_;
  std::optional<double> epsilon_, diversity_, pool_, timeout_, build_timeout_;
  bool no_reject_ = false;
};

}  // namespace attune::cli
