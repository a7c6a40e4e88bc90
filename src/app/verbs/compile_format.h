// What a compiled model is written as: an artifact for the runtime, or C sources.
#pragma once

#include <string>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/target/target.h"
#include "runtime/format/signature.h"

namespace attune::verbs {

struct FormatOptions {
  std::string name = "artifact";  // or "c"
  std::string weights = {};       // of C: "array" (also when empty) or "file"
  runtime::SignBytes sign = {};   // signs an artifact; empty: it is not signed
  bool is_c() const { return name == "c"; }
};

// Whether there is such a format, the target (in text) has it and the place for its output is free:
// before anything is compiled.
Status check_format(const FormatOptions& format, const std::string& target,
                    const std::string& output);

// The model in its format; nothing when `output` is empty.
Status write_format(const model::CompiledModel& model, const target::Target& target,
                    const FormatOptions& format, const std::string& output);

// C sources in a new directory (targets/c/model).
Status write_c(const model::CompiledModel& model, const target::Target& target,
               const FormatOptions& format, const std::string& directory);

}  // namespace attune::verbs
