// NAME.h: what a caller has to know, sizes first.
#include <fmt/format.h>

#include "targets/c/model/parts.h"

namespace attune::c {
namespace {

using runtime::DType;
using runtime::InterfaceTensor;

std::string element_text(DType type) {
  switch (type) {
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    case DType::F16:
      return "uint16_t (bits of f16)";
    case DType::BF16:
      return "uint16_t (bits of bf16)";
    case DType::Bool:
      return "uint8_t (0 or 1)";
    default: {
      const std::string name(runtime::name_of(type));
      return (name[0] == 'u' ? "uint" : "int") + name.substr(1) + "_t";
    }
  }
}

std::string describe(std::string_view list, const std::vector<InterfaceTensor>& tensors) {
  std::string text;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::string shape;
    for (const runtime::Dim& dim : tensors[i].dims) shape += fmt::format("[{}]", dim.maximum);
    text += fmt::format(" *   {}[{}]  {}: {}{}\n", list, i, in_comment(tensors[i].name),
                        element_text(tensors[i].type), shape);
  }
  return text;
}

std::string byte_sizes(const std::string& name, std::string_view list,
                       const std::vector<InterfaceTensor>& tensors) {
  std::string text = fmt::format("#define {}_{}S {}\n", name, list, tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = runtime::maximal_bytes(tensors[i].type, tensors[i].dims);
    text += fmt::format("#define {}_{}_{}_BYTES {}\n", name, list, i, bytes.ok() ? *bytes : 0);
  }
  return text;
}

// Compilers prefer vectors of 32 bytes on some processors that have 64; tiles made for the large
// ones would not fit into their registers.
std::string compile_flags(const ModelParts& parts) {
  std::string flags = std::string(kCompileFlags) + " -march=native";
  bool is_wide = false;
  for (const PrintedKernel& kernel : parts.kernels) is_wide |= kernel.vectors.contains({"f32", 16});
  if (is_wide && parts.source.plan.architecture == "x86_64") flags += " -mprefer-vector-width=512";
  return flags;
}

}  // namespace

std::string header_text(const ModelParts& parts) {
  const runtime::Plan& plan = parts.source.plan;
  const bool from_file = parts.form == WeightsForm::File;
  std::string text = fmt::format(
      "/* The model {}, compiled for '{}' to C11 that needs nothing but its own files.\n *\n",
      in_comment(plan.model), plan.target);
  text += describe("inputs", plan.inputs) + describe("outputs", plan.outputs);
  text += fmt::format(R"( *
 * Tensors are row-major and compact, aligned like their elements.
 *
 *   cc {1} {0}*.c -lm -o {0}_example
 *
 * builds the example; leave {0}_example.c out for your own program. The flags let products and sums
 * be fused and loops over lanes become vector code; without them it is slower and as right.
 * -DATTUNE_PORTABLE leaves the vector types of GCC and clang out. */
#ifndef {0}_H
#define {0}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

)",
                      parts.name, compile_flags(parts));
  text +=
      byte_sizes(parts.name, "INPUT", plan.inputs) + byte_sizes(parts.name, "OUTPUT", plan.outputs);
  text += fmt::format(
      "/* What `workspace` holds, aligned to 64 bytes. */\n#define {}_WORKSPACE_BYTES {}\n",
      parts.name, std::max<std::int64_t>(plan.arena_bytes + plan.workspace_bytes, 64));
  if (from_file) {
    text += fmt::format("/* The bytes of {0}.weights. */\n#define {0}_WEIGHTS_BYTES {1}\n",
                        parts.name, parts.source.weight_bytes);
  }
  text += "\n" + parallel_struct(parts.name);
  text +=
      fmt::format(R"(
/* Runs the model once. Nothing is allocated and nothing kept: calls with workspaces of their own may
 * happen at once. {2}`parallel` may be null: the loops then run in the caller.
 * Returns 0, 1 when a pointer is null, or 2 when a loop goes on for longer than was planned for. */
int {0}_run({1}const void* const* inputs, void* const* outputs, void* workspace,
            const {0}_parallel* parallel);

#ifdef __cplusplus
}}
#endif

#endif
)",
                  parts.name, from_file ? "const void* weights, " : "",
                  from_file ? fmt::format("`weights` are the bytes of {}.weights, aligned to 64 "
                                          "bytes.\n * ",
                                          parts.name)
                            : "");
  return text;
}

}  // namespace attune::c
