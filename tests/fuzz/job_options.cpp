// The options of a job as another user sent them; the worker that tunes it reads them.
#include "app/verbs/jobs/job_options.h"

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_job_options(std::string_view bytes) {
  const auto options = verbs::parse_job_options(std::string(bytes));
  if (!options.ok()) return;
  const auto again = verbs::parse_job_options(verbs::to_json(*options));
  CHECK(again.ok() && *again == *options, "options arrive as they were");
}

}  // namespace attune::fuzz
