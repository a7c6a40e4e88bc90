// A loop of cheap instructions of several sorts that do not wait for each other: how many a core
// begins in a cycle, whichever they are.
#pragma once

#include <cstdint>

namespace attune::probe {

// Of one round; 0 where the loop is not written for this processor.
std::int64_t issued_instructions();
void run_issue_loop(std::int64_t rounds);

}  // namespace attune::probe
