// What `tune` prints at its end, for a person: the table of tasks and the histogram of failures.
#pragma once

#include <optional>
#include <string>

#include "app/api/tune_report.h"
#include "base/result.h"

namespace attune::cli {

// "0.0241 ms", or "none".
std::string milliseconds_text(const std::optional<double>& ms);
// "3 build_failed, 1 wrong_answer".
std::string failures_text(const api::Failures& failures);

// "812 schedules were not worth building: 500 the register tile spills, …"; empty when there are
// none.
std::string rejections_text(const api::TuneReport& report);

// An error when nothing ran, or nothing but default schedules.
Status verdict_on_operator(const api::TuneReport& report);
Status verdict_on_model(const api::TuneReport& report);

// The tasks, largest share first, of a large model only those that matter most; what failed below.
std::string text_of(const api::TuneReport& report);

}  // namespace attune::cli
