// The commands below `records` that have files of their own.
#pragma once

#include "app/cli/command_line.h"
#include "app/cli/verbs.h"
#include "app/verbs/records/records.h"

namespace attune::cli {

// --records, --target: which records to look at.
void add_record_filter(CommandLine& line, verbs::RecordsOptions& options);

Result<int> run_records_export(Words arguments, Console& console);
Result<int> run_records_import(Words arguments, Console& console);
Result<int> run_records_hints(Words arguments, Console& console);
Result<int> run_records_curve(Words arguments, Console& console);

}  // namespace attune::cli
