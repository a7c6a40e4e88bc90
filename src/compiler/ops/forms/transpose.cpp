#include "compiler/ops/forms/transpose.h"

#include <algorithm>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {

Result<ir::Program> build_transpose(const TransposeOptions& options) {
  const auto& [d0, d1, d2] = options.shape;
  const NamedSize sizes[] = {{"d0", d0}, {"d1", d1}, {"d2", d2}};
  ATTUNE_RETURN_IF_ERROR(check_sizes(sizes));
  const int identity[] = {0, 1, 2};
  CHECK(std::is_permutation(options.perm.begin(), options.perm.end(), identity),
        "perm holds 0, 1 and 2 once each");

  const char* const names[] = {"i", "j", "k"};
  std::vector<ir::Axis> axes;
  std::vector<ir::Expr> index(3);
  for (std::size_t x = 0; x < 3; ++x) {
    const auto from = static_cast<std::size_t>(options.perm[x]);
    axes.push_back({names[x], options.shape[from]});
    index[from] = ir::axis_var(axes.back());
  }
  ir::Program program{"transpose", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", options.dtype, {d0, d1, d2});
  program.outputs = {ir::add_compute(program, "output", axes, ir::load(data, index))};
  return check_memory(std::move(program));
}

namespace {

SpecGraph graph_of(const Arguments& arguments) {
  std::vector<std::int64_t> order;
  for (const char digit : arguments.word("perm")) order.push_back(digit - '0');
  return {{{"transpose",
            {{"data", {arguments.number("d0"), arguments.number("d1"), arguments.number("d2")}}},
            {{"perm", order}}}}};
}

}  // namespace

Family transpose_family() {
  const std::vector<std::string> perms{"012", "021", "102", "120", "201", "210"};
  return {"transpose",
          {{"d0"}, {"d1"}, {"d2"}, {"perm", KeyKind::Word, "", perms}},
          [](const Arguments& arguments) -> Result<Operator> {
            TransposeOptions options{
                .shape = {arguments.number("d0"), arguments.number("d1"), arguments.number("d2")},
                .perm = {},
                .dtype = arguments.dtype};
            for (std::size_t x = 0; x < 3; ++x) options.perm[x] = arguments.word("perm")[x] - '0';
            ATTUNE_ASSIGN(ir::Program program, build_transpose(options));
            return Operator{.program = std::move(program)};
          },
          graph_of};
}

}  // namespace attune::ops
