// Records and definitions of tasks as lines of JSON.
#include "base/check.h"
#include "base/match.h"
#include "tests/fuzz/harness.h"
#include "tuner/records/record_json.h"

namespace attune::fuzz {

void fuzz_record_line(std::string_view bytes) {
  std::visit(Match{[](const records::Record& record) {
                     const auto again =
                         records::parse_json_line(records::record_to_json_line(record));
                     CHECK(std::holds_alternative<records::Record>(again),
                           "a record reads back as it was written");
                   },
                   [](const records::TaskDefinition& task) {
                     (void)records::parse_json_line(records::task_to_json_line(task));
                   },
                   [](const records::LineProblem&) {}},
             records::parse_json_line(bytes));
  (void)records::outcome_from_json(bytes);
}

}  // namespace attune::fuzz
