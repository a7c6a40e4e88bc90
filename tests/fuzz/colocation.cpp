// What a calibration of the scheduler wrote.
#include "fleet/jobs/simulation/colocation_file.h"

#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_colocation(std::string_view bytes) {
  const auto matrix = jobs::parse_colocation(std::string(bytes));
  if (matrix.ok()) (void)jobs::parse_colocation(jobs::to_json(*matrix));
}

}  // namespace attune::fuzz
