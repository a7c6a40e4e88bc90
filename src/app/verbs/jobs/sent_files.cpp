#include "app/verbs/jobs/sent_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/verbs/jobs/job_options.h"
#include "compiler/frontend/onnx/proto/model_file.h"

namespace attune::verbs {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

// A name of its own, whatever others are called.
std::string add_file(const std::string& folder, const std::string& path, SentJob& job) {
  std::string name = fmt::format("{}/{}-{}", folder, job.files.size(), file_name(path));
  job.files.push_back({name, path});
  return name;
}

// The model and what lies beside it, under the names by which it knows them.
Status add_model(SentJob& job) {
  const std::string path = job.request.model;
  ATTUNE_ASSIGN(const onnx_proto::ModelFile model, onnx_proto::read_model(path));
  job.request.model = file_name(path);
  job.files.push_back({job.request.model, path});
  for (const std::string& name : model.external_files()) {
    job.files.push_back({fs::path(name).lexically_normal().string(),
                         (fs::path(path).parent_path() / name).string()});
  }
  return {};
}

}  // namespace

Result<SentJob> with_sent_files(client::JobRequest request) {
  SentJob job{.request = std::move(request)};
  if (job.request.model.starts_with('/')) ATTUNE_RETURN_IF_ERROR(add_model(job));
  if (!job.request.output.empty()) job.request.output = file_name(job.request.output);
  ATTUNE_ASSIGN(JobOptions options, parse_job_options(job.request.options_json));
  for (model::NamedFile& input : options.inputs) {
    input.path = add_file("inputs", input.path, job);
  }
  for (std::string& constant : options.constants) {
    const std::size_t equals = constant.rfind('=');
    if (equals == std::string::npos || !constant.ends_with(".npy")) continue;
    constant =
        constant.substr(0, equals + 1) + add_file("constants", constant.substr(equals + 1), job);
  }
  options.records.clear();
  options.history.clear();
  job.request.options_json = to_json(options);
  return job;
}

}  // namespace attune::verbs
