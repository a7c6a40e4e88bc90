// The options of a job that only its tuner understands: they travel through the scheduler as text.
// Written when a job is submitted, read by the worker that tunes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/input_files.h"
#include "compiler/ops/precision.h"
#include "compiler/target/default_kind.h"

namespace attune::verbs {

struct JobOptions {
  std::string target{target::kDefaultKind};
  bool exact = false;
  std::optional<ops::Precision> precision = {};
  std::vector<std::string> shapes = {};       // "input=1,3,224,224", as parse_shape reads them
  std::vector<std::string> maxima = {};       // "k=10", as parse_maximum reads them
  std::vector<std::string> constants = {};    // "k=3", as parse_constant reads them; files absolute
  std::vector<model::NamedFile> inputs = {};  // files absolute
  std::string records = {};                   // the user's store, absolute; empty: the default one
  std::string history = {};                   // as TuneOptions::history, absolute or "none"

  friend bool operator==(const JobOptions&, const JobOptions&) = default;
};

std::string to_json(const JobOptions& options);
// Fields that are not there keep their defaults; unknown ones are refused, since leaving out what
// somebody asked for would tune something else.
Result<JobOptions> parse_job_options(const std::string& text);

}  // namespace attune::verbs
