// The plan of an artifact: JSON, and the proof that it stays within its memory.
#include "runtime/format/plan_json.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_plan(std::string_view bytes) {
  const auto plan = runtime::plan_from_json(bytes);
  if (!plan.ok()) return;
  (void)runtime::validate(*plan, {.weight_bytes = 1 << 20, .objects = 4});
}

}  // namespace attune::fuzz
