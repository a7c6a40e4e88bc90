#include "compiler/frontend/onnx/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace attune::onnx {

std::string_view domain_of(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string label_of(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return fmt::format("node '{}' ({})", node.name(), node.op_type());
  for (const std::string& output : node.output()) {
    if (!output.empty()) return fmt::format("the node of '{}' ({})", output, node.op_type());
  }
  return fmt::format("a node without name ({})", node.op_type());
}

graph::Folding Model::folding() const {
  graph::Folding folding = options.folding;
  folding.bytes_left = made_bytes_left;
  return folding;
}

const ::onnx::FunctionProto* Model::find_function(const ::onnx::NodeProto& node) const {
  const auto found =
      functions.find({std::string(domain_of(node.domain())), node.op_type(), node.overload()});
  return found == functions.end() ? nullptr : found->second;
}

Site::Site(std::string name, graph::Folding options, Site* around)
    : builder(std::move(name), std::move(options)), outer(around) {
  if (around == nullptr) return;
  // Run-time extents of what is captured keep their numbers.
  const int taken = around->builder.new_extent();
  while (builder.new_extent() < taken) {
  }
}

ValueId Site::capture(ValueId outer_value) {
  const auto found = captured.find(outer_value);
  if (found != captured.end()) return found->second;
  ValueId value = kNoValue;
  if (const ConstantPtr constant = outer->builder.constant_of(outer_value)) {
    value = builder.constant(constant, "captured");
  } else {
    value = builder.input("captured", outer->builder.type(outer_value));
    captures.push_back(outer_value);
  }
  captured.emplace(outer_value, value);
  return value;
}

std::vector<std::string> Site::model_inputs(ValueId value) const {
  std::set<std::string> names;
  std::set<ValueId> seen;
  std::vector<ValueId> queue{value};
  while (!queue.empty()) {
    const ValueId next = queue.back();
    queue.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto input = inputs.find(next); input != inputs.end()) names.insert(input->second);
    if (const auto known = sources.find(next); known != sources.end()) {
      queue.insert(queue.end(), known->second.begin(), known->second.end());
    }
    for (const auto& [outer_value, own] : captured) {
      if (own != next) continue;
      for (std::string& name : outer->model_inputs(outer_value)) names.insert(std::move(name));
    }
  }
  return {names.begin(), names.end()};
}

Scope::Scope(Model& model, Site& site, Scope* outer, OpsetTable opsets)
    : model_(model),
      site_(site),
      outer_(outer),
      opsets_(std::move(opsets)),
      depth_(outer == nullptr ? 0 : outer->depth_ + 1) {
  if (outer != nullptr) arguments_ = outer->arguments_;
}

Status Scope::add_initialisers(const ::onnx::GraphProto& graph) {
  const auto twice = [](const std::string& name) {
    return invalid(fmt::format("two initialisers are named '{}'", name));
  };
  for (const auto& tensor : graph.initializer()) {
    if (!tensors_.emplace(tensor.name(), &tensor).second) return twice(tensor.name());
  }
  for (const auto& tensor : graph.sparse_initializer()) {
    const std::string& name = tensor.values().name();
    if (tensors_.count(name) != 0 || !sparse_tensors_.emplace(name, &tensor).second) {
      return twice(name);
    }
  }
  return {};
}

bool Scope::has_initialiser(const std::string& name) const {
  return tensors_.count(name) != 0 || sparse_tensors_.count(name) != 0;
}

bool Scope::defines(const std::string& name) const {
  return values_.count(name) != 0 || has_initialiser(name);
}

Result<ConstantPtr> Scope::initialiser(const std::string& name) const {
  const auto dense = tensors_.find(name);
  auto constant =
      dense != tensors_.end()
          ? constant_of(model_.file, *dense->second)
          : constant_of(model_.file, *sparse_tensors_.find(name)->second, *model_.made_bytes_left);
  if (constant.ok()) {
    if (dense != tensors_.end() && model_.added.insert(dense->second).second) {
      *model_.made_bytes_left += static_cast<std::int64_t>((*constant)->bytes.size());
    }
    return constant;
  }
  return Error{constant.error().code,
               fmt::format("initialiser '{}': {}", name, constant.error().message),
               constant.error().hint};
}

Result<std::optional<ValueId>> Scope::find(const std::string& name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return std::optional(known->second);
  std::optional<ValueId> value;
  if (has_initialiser(name)) {
    ATTUNE_ASSIGN(ConstantPtr constant, initialiser(name));
    value = site_.builder.constant(std::move(constant), name);
  } else if (outer_ != nullptr) {
    ATTUNE_ASSIGN(value, outer_->find(name));
    const bool is_elsewhere = &outer_->site_ != &site_;
    if (is_elsewhere && value && *value >= 0) value = site_.capture(*value);
  }
  if (value) values_.emplace(name, *value);
  return value;
}

int Scope::opset(std::string_view domain) const {
  const auto found = opsets_.find(domain_of(domain));
  return found == opsets_.end() ? 1 : found->second;
}

OpsetTable opset_table(
    const ::google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports) {
  OpsetTable table;
  for (const auto& import : imports) {
    table[std::string(domain_of(import.domain()))] =
        static_cast<int>(std::clamp<std::int64_t>(import.version(), 0, 1 << 20));
  }
  return table;
}

}  // namespace attune::onnx
