// The bundle of schedules that ships with the program, or another one.
#include "compiler/model/schedules/bundle.h"

#include "base/check.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {

void fuzz_bundle(std::string_view bytes) {
  const auto bundle = model::parse_bundle(bytes);
  if (!bundle.ok()) return;
  const auto again = model::parse_bundle(model::to_lines(*bundle));
  CHECK(again.ok() && again->size() == bundle->size(), "a bundle reads back as it was written");
}

}  // namespace attune::fuzz
