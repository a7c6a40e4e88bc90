#include "compiler/ops/op_def.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace attune::ops {
namespace {

template <typename T>
const T& attribute(const OpCall& call, std::string_view key) {
  const auto found = call.attributes.find(key);
  CHECK(found != call.attributes.end(), fmt::format("{} has no attribute '{}'", call.name, key));
  const T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr, fmt::format("attribute '{}' of {} has another type", key, call.name));
  return *value;
}

}  // namespace

std::int64_t OpCall::integer(std::string_view key) const {
  return attribute<std::int64_t>(*this, key);
}
double OpCall::real(std::string_view key) const { return attribute<double>(*this, key); }
const std::string& OpCall::word(std::string_view key) const {
  return attribute<std::string>(*this, key);
}
const std::vector<std::int64_t>& OpCall::integers(std::string_view key) const {
  return attribute<std::vector<std::int64_t>>(*this, key);
}
const std::vector<double>& OpCall::reals(std::string_view key) const {
  return attribute<std::vector<double>>(*this, key);
}

OpDef elementwise(std::string_view name, ShapeRule infer, ScalarMeaning scalar, OpTraits traits) {
  return {name, OpKind::Elementwise, infer, scalar, nullptr, nullptr, traits};
}

OpDef by_element(std::string_view name, OpKind kind, ShapeRule infer, ElementMeaning element,
                 OpTraits traits) {
  return {name, kind, infer, nullptr, element, nullptr, traits};
}

OpDef by_stages(std::string_view name, OpKind kind, ShapeRule infer, StagesMeaning stages,
                OpTraits traits) {
  return {name, kind, infer, nullptr, nullptr, stages, traits};
}

OpDef by_runtime(std::string_view name, ShapeRule infer, OpTraits traits) {
  return {name, OpKind::Host, infer, nullptr, nullptr, nullptr, traits};
}

std::string host_name(const OpDef& def) {
  if (def.traits.host == kNoHost) return "";
  if (!def.traits.host.empty()) return std::string(def.traits.host);
  std::string name;
  bool is_start = true;
  for (const char c : def.name) {
    if (c != '_') {
      name += is_start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    is_start = c == '_';
  }
  return name;
}

const OpDef* find_operator(std::string_view name) {
  // Sorted once by name: graphs ask for every node.
  static const std::map<std::string_view, const OpDef*> by_name = [] {
    std::map<std::string_view, const OpDef*> table;
    for (const OpDef& def : operators()) {
      const bool added = table.emplace(def.name, &def).second;
      CHECK(added, fmt::format("operator '{}' stands twice in the list", def.name));
    }
    return table;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string free_stage_name(const ir::Program& program, std::string_view wanted) {
  const auto taken = [&](const std::string& name) {
    return program.find_stage(name) != nullptr ||
           std::any_of(program.inputs.begin(), program.inputs.end(),
                       [&](const ir::Input& input) { return input.buffer->name == name; });
  };
  std::string name(wanted);
  for (int number = 1; taken(name); ++number) name = fmt::format("{}.{}", wanted, number);
  return name;
}

std::vector<ir::Axis> axes_of(const std::vector<std::int64_t>& shape, std::string_view prefix) {
  std::vector<ir::Axis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    axes.push_back({fmt::format("{}{}", prefix, i), shape[i]});
  }
  return axes;
}

Result<std::vector<std::int64_t>> broadcast_shape(
    std::span<const std::vector<std::int64_t>> shapes) {
  std::vector<std::int64_t> result;
  for (const auto& shape : shapes) {
    if (shape.size() > result.size()) {
      result.insert(result.begin(), shape.size() - result.size(), 1);
    }
    const std::size_t offset = result.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& extent = result[offset + i];
      if (extent == 1) {
        extent = shape[i];
      } else if (shape[i] != 1 && shape[i] != extent) {
        return invalid(fmt::format("shapes [{}] and [{}] do not broadcast", fmt::join(result, ","),
                                   fmt::join(shape, ",")));
      }
    }
  }
  return result;
}

std::vector<ir::Expr> broadcast_index(const std::vector<std::int64_t>& shape,
                                      const std::vector<ir::Expr>& index) {
  CHECK(shape.size() <= index.size(), "an operand has more dimensions than the result");
  const std::size_t offset = index.size() - shape.size();
  std::vector<ir::Expr> operand;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    operand.push_back(shape[i] == 1 ? ir::Expr(0) : index[offset + i]);
  }
  return operand;
}

}  // namespace attune::ops
