#include "compiler/model/load/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "compiler/model/load/plain_tensor.h"
#include "compiler/model/plan/interface.h"
#include "tensor_files/npy.h"
#include "tensor_files/npz.h"

namespace attune::model {
namespace {

using runtime::DType;
using runtime::InterfaceTensor;
using runtime::Tensor;

// What files must fit.
struct Interface {
  std::string model = {};
  std::vector<InterfaceTensor> inputs = {};
  bool takes_shapes = true;

  const InterfaceTensor* find(const std::string& name) const {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const auto& input) { return input.name == name; });
    return found == inputs.end() ? nullptr : &*found;
  }
};

Error unknown_input(const std::string& model, const std::string& name,
                    const std::vector<std::string>& names) {
  return invalid(
      fmt::format("{} has no input '{}'", model, name),
      names.empty() ? "it takes none" : fmt::format("its inputs are {}", fmt::join(names, ", ")));
}

Error unknown_input(const Interface& interface, const std::string& name) {
  std::vector<std::string> names;
  for (const InterfaceTensor& input : interface.inputs) names.push_back(input.name);
  return unknown_input(interface.model, name, names);
}

Status fits(const InterfaceTensor& input, const ReadInput& file, bool takes_shapes) {
  const bool rounded = input.type == DType::BF16 && file.tensor.type() == DType::F32;
  if (file.tensor.type() != input.type && !rounded) {
    return invalid(
        fmt::format("'{}' holds {}, but input '{}' is {}", file.path,
                    runtime::name_of(file.tensor.type()), input.name, runtime::name_of(input.type)),
        "convert it in NumPy with .astype(…)");
  }
  const std::vector<std::int64_t> wanted = plain_shape(input);
  bool same = file.tensor.shape().size() == wanted.size();
  for (std::size_t i = 0; same && i < wanted.size(); ++i) {
    const std::int64_t extent = file.tensor.shape()[i];
    const bool bounded = input.channels == 0 && input.dims[i].extent != runtime::kNone;
    same = bounded ? extent <= wanted[i] : extent == wanted[i];
  }
  if (same) return {};
  return invalid(
      fmt::format("'{}' has shape {}, but input '{}' is {}", file.path,
                  runtime::shape_text(file.tensor.shape()), input.name,
                  runtime::shape_text(wanted)),
      takes_shapes ? "give it that shape, or compile the model for yours with --shape" : "");
}

Result<Tensor> as_bfloat16(const Tensor& source) {
  ATTUNE_ASSIGN(Tensor rounded,
                Tensor::allocate(DType::BF16, {source.shape().begin(), source.shape().end()}));
  for (std::int64_t i = 0; i < source.elements(); ++i) {
    runtime::write_element(rounded.data(), DType::BF16, i,
                           runtime::read_element(source.data(), source.type(), i));
  }
  return rounded;
}

Result<Tensor> fitted(const InterfaceTensor& input, ReadInput file, bool takes_shapes) {
  ATTUNE_RETURN_IF_ERROR(fits(input, file, takes_shapes));
  if (file.tensor.type() != input.type) return as_bfloat16(file.tensor);
  return std::move(file.tensor);
}

Status read_arrays(const Interface& interface, const NamedFile& given, ReadInputs& read) {
  if (!given.name.empty() && interface.find(given.name) == nullptr) {
    return unknown_input(interface, given.name);
  }
  if (!given.path.ends_with(".npz")) {
    ATTUNE_ASSIGN(Tensor tensor, tensor_files::read_npy(given.path));
    read[given.name] = {given.path, std::move(tensor)};
    return {};
  }
  ATTUNE_ASSIGN(std::vector<tensor_files::NpzMember> members, tensor_files::read_npz(given.path));
  bool found = given.name.empty();
  for (tensor_files::NpzMember& member : members) {
    if (!given.name.empty() && member.name != given.name) continue;
    found = true;
    if (interface.find(member.name) == nullptr) return unknown_input(interface, member.name);
    read[member.name] = {given.path, std::move(member.tensor)};
  }
  if (found) return {};
  return Error{ErrorCode::NotFound, fmt::format("'{}' has no array '{}'", given.path, given.name),
               "its arrays must be named like the inputs"};
}

Result<ReadInputs> read_files(const Interface& interface, const InputFiles& files) {
  ReadInputs read;
  for (const NamedFile& given : files.inputs) {
    ATTUNE_RETURN_IF_ERROR(read_arrays(interface, given, read));
  }
  for (const NamedFile& given : files.images) {
    const InterfaceTensor* input = interface.find(given.name);
    if (input == nullptr) return unknown_input(interface, given.name);
    ATTUNE_ASSIGN(const tensor_files::Image image, tensor_files::read_image(given.path));
    ATTUNE_ASSIGN(Tensor tensor,
                  tensor_files::image_input(image, input->type, largest_shape(*input), files.image,
                                            given.name));
    read[given.name] = {given.path, std::move(tensor)};
  }
  for (auto& [name, file] : read) {
    const std::string path = file.path;
    ATTUNE_ASSIGN(Tensor tensor,
                  fitted(*interface.find(name), std::move(file), interface.takes_shapes));
    file = {path, std::move(tensor)};
  }
  return read;
}

Result<Tensor> copy_of(const Tensor& source) {
  ATTUNE_ASSIGN(Tensor copy,
                Tensor::allocate(source.type(), {source.shape().begin(), source.shape().end()}));
  if (copy.bytes() > 0) std::memcpy(copy.data(), source.data(), copy.bytes());
  return copy;
}

Result<std::vector<Tensor>> plain_inputs(const runtime::Plan& plan, const ReadInputs& read,
                                         std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const InterfaceTensor& input : plan.inputs) {
    Tensor tensor;
    if (const auto file = read.find(input.name); file != read.end()) {
      ATTUNE_ASSIGN(tensor, copy_of(file->second.tensor));
    } else {
      ATTUNE_ASSIGN(tensor, Tensor::allocate(input.type, plain_shape(input)));
      fill_input(input, tensor, seed, static_cast<int>(inputs.size()));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<std::vector<Tensor>> as_taken(const runtime::Plan& plan, std::vector<Tensor> plain) {
  std::vector<Tensor> taken;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ATTUNE_ASSIGN(Tensor tensor, from_plain(plan.inputs[i], std::move(plain[i])));
    taken.push_back(std::move(tensor));
  }
  return taken;
}

// A constant that stands for weights, and is no number of an operator itself.
bool is_weight(const graph::Value& value) {
  return value.constant != nullptr && value.type.rank() > 0;
}

// The operands are the inputs and the weights.
Status check_operands(const LoadedModel& model, const InputFiles& files) {
  if (!files.images.empty()) return unsupported("operators take no images", "use --input");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.graph.values.size(); ++i) {
    const graph::Value& value = model.graph.values[i];
    const auto& inputs = model.graph.inputs;
    const bool is_input =
        std::find(inputs.begin(), inputs.end(), static_cast<int>(i)) != inputs.end();
    if (is_input || is_weight(value)) names.push_back(value.name);
  }
  for (const NamedFile& file : files.inputs) {
    if (file.name.empty()) {
      return unsupported("operators take .npy files, each with a name", "write --input a=x.npy");
    }
    if (std::find(names.begin(), names.end(), file.name) != names.end()) continue;
    return unknown_input(model.name.substr(0, model.name.find(':')), file.name, names);
  }
  return {};
}

// Takes the files that name weights out of `inputs` and into the graph. Returns what the weights
// are then.
Result<std::vector<tensor_files::TensorSummary>> bind_weights(LoadedModel& model,
                                                              std::vector<NamedFile>& inputs) {
  std::vector<tensor_files::TensorSummary> summaries;
  for (graph::Value& value : model.graph.values) {
    if (!is_weight(value)) continue;
    const auto file = std::find_if(inputs.begin(), inputs.end(), [&](const NamedFile& given) {
      return given.name == value.name;
    });
    ATTUNE_ASSIGN(Tensor tensor, tensor_of(*value.constant));
    std::string path;
    if (file != inputs.end()) {
      path = file->path;
      InterfaceTensor weight{value.name, tensor.type(), {}};
      for (const std::int64_t extent : value.type.shape) weight.dims.push_back({extent});
      ATTUNE_ASSIGN(Tensor read, tensor_files::read_npy(path));
      ATTUNE_ASSIGN(tensor, fitted(weight, {path, std::move(read)}, model.facts.takes_shapes));
      inputs.erase(file);
    }
    summaries.push_back(tensor_files::summarize(value.name, tensor, 0));
    summaries.back().random = path.empty();
    summaries.back().path = path;
    if (!path.empty()) value.constant = constant_of(std::move(tensor), value.type);
  }
  return summaries;
}

}  // namespace

Result<NamedFile> parse_named_file(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos && text.ends_with(".npz")) return NamedFile{"", text};
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return invalid(fmt::format("input '{}' is not of the form NAME=FILE", text),
                   "write --input a=x.npy");
  }
  return NamedFile{text.substr(0, equals), text.substr(equals + 1)};
}

Result<ReadInputs> read_inputs(const LoadedModel& model, const InputFiles& files) {
  Interface interface { .model = model.name };
  for (const graph::ValueId id : model.graph.inputs) {
    ATTUNE_ASSIGN(InterfaceTensor input, interface_of(model.graph.value(id)));
    interface.inputs.push_back(std::move(input));
  }
  return read_files(interface, files);
}

Result<std::vector<Tensor>> inputs_for(const runtime::Plan& plan, const ReadInputs& read,
                                       std::uint64_t seed) {
  ATTUNE_ASSIGN(std::vector<Tensor> plain, plain_inputs(plan, read, seed));
  return as_taken(plan, std::move(plain));
}

Result<ModelWithInputs> load_with_inputs(const SourceOptions& source, const InputFiles& given,
                                         std::uint64_t seed) {
  ATTUNE_ASSIGN(LoadedModel loaded, load_model(source.model));
  InputFiles files = given;
  std::vector<tensor_files::TensorSummary> weights;
  if (loaded.facts.takes_operands) {
    ATTUNE_RETURN_IF_ERROR(check_operands(loaded, files));
    ATTUNE_ASSIGN(weights, bind_weights(loaded, files.inputs));
  }
  ModelWithInputs opened;
  ATTUNE_ASSIGN(opened.model, make_runnable(std::move(loaded), source));
  const runtime::Plan& plan = opened.model.plan();
  ATTUNE_ASSIGN(const ReadInputs read,
                read_files({plan.model, plan.inputs, opened.model.facts.takes_shapes}, files));
  ATTUNE_ASSIGN(std::vector<Tensor> plain, plain_inputs(plan, read, seed));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string& name = plan.inputs[i].name;
    const auto file = read.find(name);
    opened.summaries.push_back(tensor_files::summarize(name, plain[i], 0));
    opened.summaries.back().random = file == read.end();
    if (file != read.end()) opened.summaries.back().path = file->second.path;
  }
  for (tensor_files::TensorSummary& weight : weights) {
    opened.summaries.push_back(std::move(weight));
  }
  ATTUNE_ASSIGN(opened.inputs, as_taken(plan, std::move(plain)));
  return opened;
}

}  // namespace attune::model
