// What `tune` prints at its end, for a person: the table of tasks and the histogram of failures.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tuner/whole_model/report/tune_report.h"

namespace attune::cli {

// "0.0241 ms", or "none".
std::string milliseconds_text(const std::optional<double>& ms);
// "3 build_failed, 1 wrong_answer".
std::string failures_text(const whole_model::Failures& failures);

// "812 schedules were not worth building: 500 the register tile spills, …"; empty when there are
// none.
std::string rejections_text(const whole_model::TuneReport& report);

// An error when nothing ran, or nothing but default schedules: where records are all there is, and
// where an artifact was written.
Status verdict_on_records(const whole_model::TuneReport& report);
Status verdict_on_artifact(const whole_model::TuneReport& report);

// The tasks, largest share first, of a large model only those that matter most; what failed below.
std::string text_of(const whole_model::TuneReport& report);

}  // namespace attune::cli
