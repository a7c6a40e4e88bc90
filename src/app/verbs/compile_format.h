// What a compiled model is written as: an artifact for the runtime, an object of its kernels, or C
// sources.
#pragma once

#include <string>

#include "base/result.h"
#include "compiler/model/compile.h"
#include "compiler/model/load/model.h"
#include "compiler/target/target.h"
#include "runtime/format/signature.h"

namespace attune::verbs {

struct FormatOptions {
  std::string name = "artifact";  // or "c"; "object" comes of format_of() alone
  std::string weights = {};       // of C: "array" (also when empty) or "file"
  runtime::SignBytes sign = {};   // signs an artifact; empty: it is not signed
  bool is_c() const { return name == "c"; }
  bool is_object() const { return name == "object"; }
};

// Whether there is such a format, the target (in text) has it and the place for its output is free:
// before anything is compiled.
Status check_format(const FormatOptions& format, const std::string& target,
                    const std::string& output);

// What the options stand for: a model whose form is an object becomes one, unless the output's name
// or the option says otherwise.
FormatOptions format_of(const model::LoadedModel& model, const FormatOptions& asked,
                        const std::string& output);

// The resolved target with the facts that hold in the format, which must be checked.
target::Target target_in(const FormatOptions& format, const target::Target& target);

// The model, compiled for target_in() the format; nothing when `output` is empty.
Status write_format(const model::CompiledModel& model, const FormatOptions& format,
                    const std::string& output);
// An object of kernels.
Status write_object(const codegen::Module& kernels, const std::string& output);

}  // namespace attune::verbs
