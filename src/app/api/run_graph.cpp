#include "app/api/run_graph.h"

#include <set>

#include "app/api/input_files.h"
#include "app/api/isolated.h"
#include "app/api/npy.h"
#include "app/api/runnable_model.h"
#include "base/clock.h"

namespace attune::api {
namespace {

using runtime::Tensor;

Bytes pack(double milliseconds, const std::vector<Tensor>& outputs) {
  Bytes bytes;
  append_value(bytes, milliseconds);
  for (const Tensor& output : outputs) {
    append_value(bytes, output.type());
    append_value(bytes, output.shape().size());
    for (const std::int64_t extent : output.shape()) append_value(bytes, extent);
    const char* first = static_cast<const char*>(output.data());
    bytes.insert(bytes.end(), first, first + output.bytes());
  }
  return bytes;
}

Result<Tensor> take_tensor(std::span<const char>& bytes) {
  const auto type = take_value<runtime::DType>(bytes);
  std::vector<std::int64_t> shape(take_value<std::size_t>(bytes));
  for (std::int64_t& extent : shape) extent = take_value<std::int64_t>(bytes);
  ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  CHECK(bytes.size() >= tensor.bytes(), "a child's answer is too short");
  if (tensor.bytes() > 0) std::memcpy(tensor.data(), bytes.data(), tensor.bytes());
  bytes = bytes.subspan(tensor.bytes());
  return tensor;
}

// Two outputs whose names become the same file would overwrite each other.
std::string free_path(const std::string& directory, const std::string& name,
                      std::set<std::string>& taken) {
  std::string path = npy_path(directory, name);
  for (int i = 1; !taken.insert(path).second; ++i) {
    path = npy_path(directory, name + "_" + std::to_string(i));
  }
  return path;
}

}  // namespace

Result<RunReport> run_graph(const RunOptions& options) {
  SourceOptions source{
      .graph = {.model = options.model, .shapes = options.shapes, .constants = options.constants},
      .schedule = options.schedule,
      .progress = options.progress};
  ATTUNE_ASSIGN(const RunnableModel model, load_runnable(source));
  ATTUNE_ASSIGN(GivenInputs inputs, gather_inputs(model.plan(), options));
  RunReport report{
      .model = model.name, .schedule_text = model.schedule_text, .fallbacks = model.fallbacks};
  report.inputs = std::move(inputs.summaries);
  if (!options.output.empty()) ATTUNE_RETURN_IF_ERROR(make_directory(options.output));
  const auto work = [&]() -> Result<Bytes> {
    const SteadyClock clock;
    ATTUNE_ASSIGN(ModelSession session, ModelSession::create(model, true));
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(session.run(inputs.tensors));
    const double milliseconds = seconds_between(start, clock.now_ns()) * 1e3;
    ATTUNE_ASSIGN(const std::vector<Tensor> outputs, session.outputs());
    return pack(milliseconds, outputs);
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated(model.name, work));
  std::span<const char> bytes = answer;
  report.milliseconds = take_value<double>(bytes);
  std::set<std::string> taken;
  for (const runtime::InterfaceTensor& output : model.plan().outputs) {
    ATTUNE_ASSIGN(const Tensor tensor, take_tensor(bytes));
    report.outputs.push_back(summarize(output.name, tensor, options.top));
    if (options.output.empty()) continue;
    const std::string path = free_path(options.output, output.name, taken);
    ATTUNE_RETURN_IF_ERROR(write_npy(path, tensor));
    report.outputs.back().path = path;
  }
  return report;
}

}  // namespace attune::api
