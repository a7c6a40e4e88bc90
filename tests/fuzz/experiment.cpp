// Plans of simulated runs.
#include "fleet/jobs/simulation/experiment_file.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_experiment(std::string_view bytes) { (void)jobs::parse_experiment(bytes); }

}  // namespace attune::fuzz
