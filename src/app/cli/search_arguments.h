// The options of `tune` that say how it searches and how it measures.
#pragma once

#include <optional>
#include <string>

#include "app/api/tune.h"
#include "app/cli/command_line.h"

namespace attune::cli {

class SearchArguments {
 public:
  // Lists them under a title of their own.
  explicit SearchArguments(CommandLine& line);
  // Puts what was given into the options.
  void apply(api::TuneOptions& options) const;

 private:
  explore::SearchOptions search_;
  std::optional<std::int64_t> ensemble_, batch_, chains_, steps_, repeats_;
  std::optional<double> epsilon_, diversity_, pool_, timeout_;
  bool no_reject_ = false;
};

}  // namespace attune::cli
