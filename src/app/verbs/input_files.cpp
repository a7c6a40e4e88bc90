#include "app/verbs/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/model/load/plain_tensor.h"
#include "tensor_files/npy.h"
#include "tensor_files/npz.h"

namespace attune::verbs {
namespace {

using runtime::DType;
using runtime::InterfaceTensor;
using runtime::Tensor;

struct FileInput {
  std::string path = {};
  Tensor tensor = {};
};
using FileInputs = std::map<std::string, FileInput, std::less<>>;

const InterfaceTensor* find_input(const runtime::Plan& plan, const std::string& name) {
  const auto found = std::find_if(plan.inputs.begin(), plan.inputs.end(),
                                  [&](const InterfaceTensor& input) { return input.name == name; });
  return found == plan.inputs.end() ? nullptr : &*found;
}

Error unknown_input(const model::RunnableModel& model, const std::string& name) {
  const runtime::Plan& plan = model.plan();
  std::vector<std::string> names;
  for (const InterfaceTensor& input : plan.inputs) names.push_back(input.name);
  return invalid(
      fmt::format("{} has no input '{}'", plan.model, name),
      names.empty() ? "it takes none" : fmt::format("its inputs are {}", fmt::join(names, ", ")));
}

// An operator has the shapes that its name says.
Status fits(const InterfaceTensor& input, const FileInput& file, bool is_operator) {
  const bool rounded = input.type == DType::BF16 && file.tensor.type() == DType::F32;
  if (file.tensor.type() != input.type && !rounded) {
    return invalid(
        fmt::format("'{}' holds {}, but input '{}' is {}", file.path,
                    runtime::name_of(file.tensor.type()), input.name, runtime::name_of(input.type)),
        "convert it in NumPy with .astype(…)");
  }
  const std::vector<std::int64_t> wanted = model::plain_shape(input);
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
      is_operator ? "" : "give it that shape, or compile the model for yours with --shape");
}

Result<FileInputs> read_files(const model::RunnableModel& model, const RunOptions& options) {
  const runtime::Plan& plan = model.plan();
  FileInputs files;
  for (const NamedFile& given : options.inputs) {
    if (!given.name.empty() && find_input(plan, given.name) == nullptr) {
      return unknown_input(model, given.name);
    }
    if (!given.path.ends_with(".npz")) {
      ATTUNE_ASSIGN(Tensor tensor, tensor_files::read_npy(given.path));
      files[given.name] = {given.path, std::move(tensor)};
      continue;
    }
    ATTUNE_ASSIGN(std::vector<tensor_files::NpzMember> members, tensor_files::read_npz(given.path));
    bool found = given.name.empty();
    for (tensor_files::NpzMember& member : members) {
      if (!given.name.empty() && member.name != given.name) continue;
      found = true;
      if (find_input(plan, member.name) == nullptr) return unknown_input(model, member.name);
      files[member.name] = {given.path, std::move(member.tensor)};
    }
    if (!found) {
      return Error{ErrorCode::NotFound,
                   fmt::format("'{}' has no array '{}'", given.path, given.name),
                   "its arrays must be named like the inputs"};
    }
  }
  for (const NamedFile& given : options.images) {
    const InterfaceTensor* input = find_input(plan, given.name);
    if (input == nullptr) return unknown_input(model, given.name);
    ATTUNE_ASSIGN(const tensor_files::Image image, tensor_files::read_image(given.path));
    ATTUNE_ASSIGN(Tensor tensor,
                  tensor_files::image_input(image, input->type, model::largest_shape(*input),
                                            options.image, given.name));
    files[given.name] = {given.path, std::move(tensor)};
  }
  return files;
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

Result<Tensor> fitted(const InterfaceTensor& input, FileInput file, bool is_operator) {
  ATTUNE_RETURN_IF_ERROR(fits(input, file, is_operator));
  if (file.tensor.type() != input.type) return as_bfloat16(file.tensor);
  return std::move(file.tensor);
}

}  // namespace

bool is_weight(const graph::Value& value) {
  return value.constant != nullptr && value.type.rank() > 0;
}

Result<std::vector<tensor_files::TensorSummary>> bind_weights(model::LoadedModel& model,
                                                              std::vector<NamedFile>& inputs) {
  std::vector<tensor_files::TensorSummary> summaries;
  if (!model.is_operator()) return summaries;
  for (graph::Value& value : model.graph.values) {
    if (!is_weight(value)) continue;
    const auto file = std::find_if(inputs.begin(), inputs.end(), [&](const NamedFile& given) {
      return given.name == value.name;
    });
    ATTUNE_ASSIGN(Tensor tensor, model::tensor_of(*value.constant));
    std::string path;
    if (file != inputs.end()) {
      path = file->path;
      InterfaceTensor weight{value.name, tensor.type(), {}};
      for (const std::int64_t extent : value.type.shape) weight.dims.push_back({extent});
      ATTUNE_ASSIGN(Tensor read, tensor_files::read_npy(path));
      ATTUNE_ASSIGN(tensor, fitted(weight, {path, std::move(read)}, true));
      inputs.erase(file);
    }
    summaries.push_back(tensor_files::summarize(value.name, tensor, 0));
    summaries.back().random = path.empty();
    summaries.back().path = path;
    if (!path.empty()) value.constant = model::constant_of(std::move(tensor), value.type);
  }
  return summaries;
}

Result<GivenInputs> gather_inputs(const model::RunnableModel& model, const RunOptions& options) {
  ATTUNE_ASSIGN(FileInputs files, read_files(model, options));
  GivenInputs given;
  for (const InterfaceTensor& input : model.plan().inputs) {
    const auto file = files.find(input.name);
    Tensor tensor;
    if (file != files.end()) {
      ATTUNE_ASSIGN(tensor, fitted(input, std::move(file->second), model.is_operator));
    } else {
      ATTUNE_ASSIGN(tensor, Tensor::allocate(input.type, model::plain_shape(input)));
      model::fill_input(tensor, options.seed, static_cast<int>(given.tensors.size()));
    }
    given.summaries.push_back(tensor_files::summarize(input.name, tensor, 0));
    given.summaries.back().random = file == files.end();
    if (file != files.end()) given.summaries.back().path = file->second.path;
    ATTUNE_ASSIGN(Tensor taken, model::from_plain(input, std::move(tensor)));
    given.tensors.push_back(std::move(taken));
  }
  return given;
}

}  // namespace attune::verbs
