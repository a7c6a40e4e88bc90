#include "targets/cuda/codegen/warpgroups.h"

#include <fmt/format.h>

#include <set>

#include "compiler/codegen/walk.h"

namespace attune::cuda {
namespace {

// One that adds to what a lane holds at `c`, whose elements lie `row` and `column` apart.
std::string function_text(const ir::TensorIntrinsic& intrinsic) {
  const ir::WarpgroupForm& form = *intrinsic.warpgroup;
  const auto places = ir::fragment_places(form.result, 1)[0];
  std::string registers, operands;
  for (std::size_t e = 0; e < places.size(); ++e) {
    const char* const comma = e == 0 ? "" : ", ";
    registers += fmt::format("{}%{}", comma, e);
    operands += fmt::format("{}\"+f\"(c[{} * row + {} * column])", comma, places[e].index[0],
                            places[e].index[1]);
  }
  const std::size_t count = places.size();
  return fmt::format(
      "template <int row, int column>\n"
      "__device__ __forceinline__ void {}(float* c, unsigned long long a, unsigned long long b) "
      "{{\n"
      "  asm volatile(\"{{\\n.reg .pred add;\\nsetp.eq.u32 add, 0, 0;\\n\"\n"
      "               \"{} {{{}}}, %{}, %{}, add, {};\\n}}\"\n"
      "      : {}\n"
      "      : \"l\"(a), \"l\"(b));\n"
      "}}\n",
      warpgroup_function(intrinsic), form.instruction, registers, count, count + 1, form.modifiers,
      operands);
}

}  // namespace

std::string warpgroup_function(const ir::TensorIntrinsic& intrinsic) {
  return "at_" + intrinsic.name;
}

std::string warpgroup_functions(const ir::Stmt& s) {
  std::set<std::string> texts;
  codegen::walk(
      s, [](const ir::Stmt&) {},
      [&](const ir::Expr& e) {
        const auto* call = ir::as<ir::Opaque>(e);
        const ir::TensorIntrinsic* intrinsic =
            call ? ir::find_tensor_intrinsic(call->name) : nullptr;
        if (intrinsic && intrinsic->warpgroup) texts.insert(function_text(*intrinsic));
      });
  std::string all;
  for (const std::string& text : texts) all += "\n" + text;
  return all;
}

}  // namespace attune::cuda
