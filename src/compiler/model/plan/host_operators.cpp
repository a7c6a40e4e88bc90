#include "compiler/model/plan/host_operators.h"

#include <fmt/format.h>

#include "base/check.h"
#include "runtime/host/host.h"

namespace attune::model {
namespace {

constexpr std::int64_t kYes = 1;

runtime::HostAttributes host_attributes(const ops::Attributes& attributes) {
  runtime::HostAttributes result;
  for (const auto& [key, value] : attributes) {
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_constructible_v<runtime::Attribute, decltype(v)>) {
            result.emplace(key, v);
          }
        },
        value);
  }
  return result;
}

}  // namespace

Result<HostOperator> host_operator(std::string_view op, const ops::Attributes& attributes) {
  const ops::OpDef* def = ops::find_operator(op);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", op));
  HostOperator found{ops::host_name(*def), host_attributes(attributes)};
  if (op == "on_host") {  // names the operator of ONNX itself, with attributes as there
    found.name = std::get<std::string>(attributes.at("op"));
    found.attributes.erase("op");
  } else {  // attributes of graphs are normalised: no axes are none, an extent of 0 is one
    if (attributes.count("axes") != 0) found.attributes.emplace("noop_with_empty_axes", kYes);
    if (attributes.count("shape") != 0) found.attributes.emplace("allowzero", kYes);
  }
  if (runtime::has_host(found.name)) return found;
  return unsupported(fmt::format("{} of a tensor whose size depends on data", op));
}

}  // namespace attune::model
