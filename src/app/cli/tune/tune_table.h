// The live table of a tuning run: one row per task, those with the largest share of the time first,
// as many as the terminal has room for.
#pragma once

#include <string>
#include <vector>

#include "tuner/whole_model/report/tune_progress.h"

namespace attune::cli {

// No line is longer than `columns`, and there are no more than `rows`; where there is too little
// room, columns and rows that matter less are left out.
std::vector<std::string> tune_table(const whole_model::TuneProgress& progress, std::size_t columns,
                                    std::size_t rows);

// What the run as a whole is doing: "17 of 20 tasks settled  812 trials  …  1 min 12 s left".
std::string tune_summary(const whole_model::TuneProgress& progress);

}  // namespace attune::cli
