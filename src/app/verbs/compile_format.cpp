#include "app/verbs/compile_format.h"

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/check.h"
#include "compiler/model/text/model_text.h"
#include "targets/c/model/model.h"
#include "targets/kinds.h"

namespace attune::verbs {

namespace {

// An error names a target that has it.
Status check_writes_c(const std::string& text) {
  ATTUNE_ASSIGN(const target::Target target, targets::parse(text));
  if (targets::kind_of(target).c_target != nullptr) return {};
  std::string example;
  for (const target::Kind* kind : targets::kinds()) {
    if (kind->c_target != nullptr && example.empty()) example = kind->example;
  }
  return invalid(fmt::format("--format c writes no sources for the target '{}'", text),
                 fmt::format("leave --format c out, or give a target like '{}'", example));
}

// In a new directory, of the loops that the model's kernels were built from.
Status write_c(const model::CompiledModel& model, const FormatOptions& format,
               const std::string& directory) {
  std::vector<ir::Kernel> kernels;
  for (const model::SharedKernel& kernel : model.kernels) {
    kernels.push_back(kernel->program.main.loops);
  }
  const c::ModelSource source{model.plan, kernels, model.weights.pieces(), model.weights.bytes()};
  const auto form = format.weights == "file" ? c::WeightsForm::File : c::WeightsForm::Array;
  ATTUNE_ASSIGN(const std::vector<c::SourceFile> files, c::print_model(source, form));
  return c::write_directory(directory, files);
}

}  // namespace

Status check_format(const FormatOptions& format, const std::string& target,
                    const std::string& output) {
  if (format.name != "artifact" && format.name != "c") {
    return invalid(fmt::format("there is no format '{}'", format.name),
                   "the formats are artifact and c");
  }
  if (format.sign && (format.is_c() || output.empty())) {
    return invalid("--sign is for an artifact that is written",
                   format.is_c() ? "leave --sign or --format c out" : "add -o FILE.attune");
  }
  if (!format.weights.empty() && !format.is_c()) {
    return invalid("--weights is for C sources, artifacts hold their weights",
                   "add --format c, or leave --weights out");
  }
  if (!format.weights.empty() && format.weights != "array" && format.weights != "file") {
    return invalid(fmt::format("--weights is '{}', must be array or file", format.weights),
                   "arrays become part of the program, a file is read by it");
  }
  if (!format.is_c()) return {};
  ATTUNE_RETURN_IF_ERROR(check_writes_c(target));
  if (output.empty()) {
    return invalid("--format c needs a directory for the sources", "add -o DIR");
  }
  return c::check_directory(output);
}

target::Target target_in(const FormatOptions& format, const target::Target& target) {
  if (!format.is_c()) return target;
  const auto c_target = targets::kind_of(target).c_target;
  CHECK(c_target != nullptr, "C sources for '" + target.kind + "', which writes none");
  return c_target(target);
}

FormatOptions format_of(const model::LoadedModel& model, const FormatOptions& asked,
                        const std::string& output) {
  FormatOptions format = asked;
  const bool object = model.facts.form == model::OutputForm::Object && !asked.is_c() &&
                      !model_text::is_artifact_name(output);
  if (object) format.name = "object";
  return format;
}

Status write_object(const codegen::Module& kernels, const std::string& output) {
  if (output.empty()) return {};
  const std::string_view bytes(reinterpret_cast<const char*>(kernels.code.data()),
                               kernels.code.size());
  return write_file_atomically(output, bytes);
}

Status write_format(const model::CompiledModel& model, const FormatOptions& format,
                    const std::string& output) {
  if (output.empty()) return {};
  return format.is_c() ? write_c(model, format, output) : model::write(model, output, format.sign);
}

}  // namespace attune::verbs
