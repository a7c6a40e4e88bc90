// How long a core waits for a line of memory that nothing foresees.
#pragma once

#include <cstdint>

namespace attune::probe {

// In nanoseconds, of lines here and there in the first quarter of so many bytes, which are more
// than the caches hold and are written to. The best of some passes.
double line_latency_ns(char* data, std::int64_t bytes);

}  // namespace attune::probe
