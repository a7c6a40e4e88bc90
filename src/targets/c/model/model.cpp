#include "targets/c/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/match.h"
#include "compiler/codegen/c_text/names.h"
#include "targets/c/model/parts.h"

namespace attune::c {

using c_text::identifier;
namespace {

// Files of kernels hold at most about this much text.
constexpr std::size_t kFileBytes = 400 << 10;

Status check_weights(const ModelSource& source, WeightsForm form) {
  if (form == WeightsForm::File || source.weight_bytes <= kLargestArrays) return {};
  constexpr double kMb = 1e6;
  return unsupported(
      fmt::format("the weights of '{}' have {:.1f} MB, arrays in C hold at most {:.1f} MB",
                  source.plan.model, static_cast<double>(source.weight_bytes) / kMb,
                  static_cast<double>(kLargestArrays) / kMb),
      "add --weights file");
}

Status check_sizes(const runtime::Plan& plan) {
  if (plan.extents == 0) return {};
  return unsupported(
      fmt::format("'{}' has tensors whose size depends on data, which C does not have", plan.model),
      "compile it as an artifact, without --format c");
}

// By kernel: the parameters that some call gives the memory of another one.
std::vector<std::set<std::size_t>> shared_parameters(const runtime::Plan& plan) {
  std::vector<std::set<std::size_t>> shared(plan.kernels.size());
  const auto add_call = [&](const runtime::KernelCall& call) {
    for (std::size_t i = 0; i < call.buffers.size(); ++i) {
      const auto begin = call.buffers.begin();
      if (std::count(begin, call.buffers.end(), call.buffers[i]) < 2) continue;
      shared[static_cast<std::size_t>(call.kernel)].insert(i);
    }
  };
  const auto add_block = [&](const runtime::Block& block, const auto& again) -> void {
    for (const runtime::Instruction& instruction : block) {
      std::visit(Match{
                     [&](const runtime::KernelCall& call) { add_call(call); },
                     [&](const runtime::If& branch) {
                       again(branch.then_block, again);
                       again(branch.else_block, again);
                     },
                     [&](const runtime::Loop& loop) { again(loop.body, again); },
                     [](const auto&) {},
                 },
                 instruction.kind);
    }
  };
  add_block(plan.body, add_block);
  return shared;
}

}  // namespace

std::string in_comment(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\';
    safe += plain && !(c == '/' && safe.ends_with('*')) ? c : '_';
  }
  return '"' + safe + '"';
}

std::string kernels_header(const ModelParts& parts) {
  std::string text = fmt::format(
      "/* The kernels of {0}: what they are made of, and their functions. */\n"
      "#ifndef {0}_KERNELS_H\n#define {0}_KERNELS_H\n\n#include \"{0}.h\"\n",
      parts.name);
  for (const PreludePart& part : prelude()) {
    text += fmt::format("#include \"{}_{}.h\"\n", parts.name, part.name);
  }
  VectorTypes vectors;
  for (const PrintedKernel& kernel : parts.kernels) {
    vectors.insert(kernel.vectors.begin(), kernel.vectors.end());
  }
  text += '\n';
  for (const auto& [tag, lanes] : vectors) {
    const bool is_power = (lanes & (lanes - 1)) == 0;
    if (is_power) text += fmt::format("VTYPE({}, {})\n", tag, lanes);
  }
  text += '\n';
  for (const PrintedKernel& kernel : parts.kernels) text += kernel.declaration + ";\n";
  return text + "\n#endif\n";
}

std::vector<SourceFile> kernel_files(const ModelParts& parts) {
  std::vector<SourceFile> files;
  for (const PrintedKernel& kernel : parts.kernels) {
    if (files.empty() || files.back().bytes.size() + kernel.definition.size() > kFileBytes) {
      files.push_back({fmt::format("{}_kernels_{}.c", parts.name, files.size()),
                       fmt::format("#include \"{}_kernels.h\"\n", parts.name)});
    }
    files.back().bytes += "\n" + kernel.definition;
  }
  return files;
}

Result<std::vector<SourceFile>> print_model(const ModelSource& source, WeightsForm form) {
  ATTUNE_RETURN_IF_ERROR(check_sizes(source.plan));
  ATTUNE_RETURN_IF_ERROR(check_weights(source, form));
  ModelParts parts{source, identifier(source.plan.model), form, {}, {}};
  if (form == WeightsForm::Array) parts.arrays = plan_arrays(source, parts.name);
  const std::vector<std::set<std::size_t>> shared = shared_parameters(source.plan);
  for (std::size_t k = 0; k < source.kernels.size(); ++k) {
    ATTUNE_ASSIGN(
        PrintedKernel printed,
        print_kernel(source.kernels[k],
                     {.prefix = parts.name, .threads = source.plan.threads, .shared = shared[k]}));
    parts.kernels.push_back(std::move(printed));
  }
  ATTUNE_ASSIGN(std::string run, run_text(parts));
  std::vector<SourceFile> files = kernel_files(parts);
  files.push_back({parts.name + ".h", header_text(parts)});
  files.push_back({parts.name + ".c", std::move(run)});
  files.push_back({parts.name + "_kernels.h", kernels_header(parts)});
  for (const PreludePart& part : prelude()) {
    files.push_back({fmt::format("{}_{}.h", parts.name, part.name), std::string(part.text)});
  }
  files.push_back({parts.name + "_example.c", example_text(parts)});
  for (SourceFile& file : weight_files(parts)) files.push_back(std::move(file));
  return files;
}

}  // namespace attune::c
