// What a run of a model reads: from files and pictures, random where there is none. Tensors are
// seen here as people know them: activations that an operator takes in blocks are [n, c, h, w].
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/runnable_model.h"
#include "runtime/memory/tensor.h"
#include "tensor_files/image.h"
#include "tensor_files/tensor_summary.h"

namespace attune::model {

struct NamedFile {
  std::string name = {};  // of the input
  std::string path = {};  // a .npy file, a .npz file, or a picture

  friend bool operator==(const NamedFile&, const NamedFile&) = default;
};

// "NAME=FILE" as the user writes it; names may hold '='. A .npz file needs no name.
Result<NamedFile> parse_named_file(const std::string& text);

struct InputFiles {
  std::vector<NamedFile> inputs = {};  // those not named are random; without a name: all of a .npz
  std::vector<NamedFile> images = {};  // of models that take them
  tensor_files::ImageOptions image = {};
};

// A file that was read, as the input that it is for.
struct ReadInput {
  std::string path = {};
  runtime::Tensor tensor = {};
};
using ReadInputs = std::map<std::string, ReadInput, std::less<>>;  // by the name of the input

// Names, types and shapes are checked; the errors name the file and the input. Not of an artifact,
// nor where files may be given for weights.
Result<ReadInputs> read_inputs(const LoadedModel& model, const InputFiles& files);
// In the order of the plan's inputs and as it takes them: those that were read, and random ones.
Result<std::vector<runtime::Tensor>> inputs_for(const runtime::Plan& plan, const ReadInputs& read,
                                                std::uint64_t seed);

// A model that runs, with what it reads; also its weights where files may be given for them, which
// are bound while it is compiled.
struct ModelWithInputs {
  RunnableModel model = {};
  std::vector<runtime::Tensor> inputs = {};                 // as the plan takes them
  std::vector<tensor_files::TensorSummary> summaries = {};  // as people know them
};
Result<ModelWithInputs> load_with_inputs(const SourceOptions& source, const InputFiles& files,
                                         std::uint64_t seed);

}  // namespace attune::model
