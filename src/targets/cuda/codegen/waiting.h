// Whether functions wait for the work before them before they touch memory, as PTX shows it.
#pragma once

#include <string_view>

namespace attune::cuda {

// True when in every function of the text griddepcontrol.wait comes before all that reads or writes
// memory but its parameters and its threads' own.
bool waits_before_memory(std::string_view ptx);

}  // namespace attune::cuda
