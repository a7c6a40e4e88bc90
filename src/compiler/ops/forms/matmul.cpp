#include "compiler/ops/forms/matmul.h"

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

Status check(std::string_view op, const MatmulOptions& options) {
  const NamedSize sizes[] = {{"m", options.m}, {"n", options.n}, {"k", options.k}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  return check_dtype(op, options.dtype, kProductTypes);
}

// left[i, k] * right[k, j] summed over k, and the output.
Result<ir::Program> finish(ir::Program program, const MatmulOptions& options,
                           const ir::Buffer& left, const ir::Buffer& right) {
  const std::vector<ir::Axis> axes{{"i", options.m}, {"j", options.n}};
  const ir::Axis k{"k", options.k};
  const ir::Expr value = product(ir::load(left, {ir::var("i"), ir::var("k")}),
                                 ir::load(right, {ir::var("k"), ir::var("j")}));
  ir::Buffer anchor = ir::add_reduce(program, "anchor", axes, {k}, ir::Reduction::Sum, value);
  add_output(program, anchor, axes, result_of(options.dtype));
  return check_memory(std::move(program));
}

MatmulOptions options_from(const Arguments& arguments) {
  return {.m = arguments.number("m"),
          .n = arguments.number("n"),
          .k = arguments.number("k"),
          .dtype = arguments.dtype};
}

Result<Operator> as_operator(Result<ir::Program> program, const MatmulOptions& options,
                             double count) {
  ATTUNE_ASSIGN(ir::Program direct, std::move(program));
  return Operator{.program = std::move(direct),
                  .flops = count * flops(options),
                  .tolerance = tolerance_of(options.dtype)};
}

}  // namespace

Result<ir::Program> build_matmul(const MatmulOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check("matmul", options));
  ir::Program program{"matmul", {}, {}, {}};
  ir::Buffer a = ir::add_input(program, "a", options.dtype, {options.m, options.k});
  ir::Buffer b = ir::add_input(program, "b", options.dtype, {options.k, options.n});
  return finish(std::move(program), options, a, b);
}

Result<ir::Program> build_dense(const MatmulOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check("dense", options));
  ir::Program program{"dense", {}, {}, {}};
  ir::Buffer data = ir::add_input(program, "data", options.dtype, {options.m, options.k});
  ir::Buffer weight = ir::add_input(program, "weight", options.dtype, {options.k, options.n}, true);
  const std::vector<ir::Axis> axes{{"k", options.k}, {"j", options.n}};
  ir::Buffer filter = ir::add_compute(program, "filter", axes, ir::load(weight, index_of(axes)));
  return finish(std::move(program), options, data, filter);
}

Result<ir::Program> build_batch_matmul(std::int64_t batch, const MatmulOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_size("b", batch));
  ATTUNE_RETURN_IF_ERROR(check("batch_matmul", options));
  ir::Program program{"batch_matmul", {}, {}, {}};
  ir::Buffer a = ir::add_input(program, "a", options.dtype, {batch, options.m, options.k});
  ir::Buffer b = ir::add_input(program, "b", options.dtype, {batch, options.k, options.n});
  const std::vector<ir::Axis> axes{{"b", batch}, {"i", options.m}, {"j", options.n}};
  const ir::Expr value = product(ir::load(a, {ir::var("b"), ir::var("i"), ir::var("k")}),
                                 ir::load(b, {ir::var("b"), ir::var("k"), ir::var("j")}));
  ir::Buffer anchor =
      ir::add_reduce(program, "anchor", axes, {{"k", options.k}}, ir::Reduction::Sum, value);
  add_output(program, anchor, axes, result_of(options.dtype));
  return check_memory(std::move(program));
}

double flops(const MatmulOptions& options) {
  return 2.0 * static_cast<double>(options.m) * static_cast<double>(options.n) *
         static_cast<double>(options.k);
}

namespace {

SpecGraph product(const Arguments& arguments, bool constant) {
  const std::int64_t m = arguments.number("m"), n = arguments.number("n");
  const std::int64_t k = arguments.number("k");
  return {{{"matmul",
            {{constant ? "data" : "a", {m, k}},
             {.name = constant ? "weight" : "b", .shape = {k, n}, .constant = constant}}}}};
}

SpecGraph matmul_graph(const Arguments& arguments) { return product(arguments, false); }
SpecGraph dense_graph(const Arguments& arguments) { return product(arguments, true); }

SpecGraph batch_matmul_graph(const Arguments& arguments) {
  const std::int64_t b = arguments.number("b"), k = arguments.number("k");
  return {
      {{"matmul", {{"a", {b, arguments.number("m"), k}}, {"b", {b, k, arguments.number("n")}}}}}};
}

}  // namespace

Family matmul_family() {
  return {"matmul",
          {{"m"}, {"n"}, {"k"}},
          [](const Arguments& arguments) {
            const MatmulOptions options = options_from(arguments);
            return as_operator(build_matmul(options), options, 1);
          },
          matmul_graph};
}

Family dense_family() {
  return {"dense",
          {{"m"}, {"n"}, {"k"}},
          [](const Arguments& arguments) {
            const MatmulOptions options = options_from(arguments);
            return as_operator(build_dense(options), options, 1);
          },
          dense_graph};
}

Family batch_matmul_family() {
  return {"batch_matmul",
          {{"b"}, {"m"}, {"n"}, {"k"}},
          [](const Arguments& arguments) {
            const MatmulOptions options = options_from(arguments);
            const std::int64_t batch = arguments.number("b");
            return as_operator(build_batch_matmul(batch, options), options,
                               static_cast<double>(batch));
          },
          batch_matmul_graph};
}

}  // namespace attune::ops
