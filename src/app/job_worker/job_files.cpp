#include "app/job_worker/job_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "compiler/model/load/model.h"

namespace attune::job_worker {
namespace {

namespace fs = std::filesystem;

// Down from a folder, and never up.
bool is_plain(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || path.is_absolute()) return false;
  for (const fs::path& piece : path) {
    if (piece.empty() || piece == "." || piece == "..") return false;
  }
  return true;
}

}  // namespace

JobFiles::JobFiles(const client::JobStatus& job, const std::string& folder) {
  const std::string& files = job.request.files;
  if (!files.empty()) {
    sent_ = folder + "/" + files;
  } else if (job.uid != ::geteuid()) {
    sent_ = "";
  }
}

Result<std::string> JobFiles::sent_file(const std::string& name) const {
  std::error_code ignored;
  const std::string path = *sent_ + "/" + name;
  const bool there =
      !sent_->empty() && is_plain(name) && fs::is_regular_file(fs::symlink_status(path, ignored));
  if (there) return path;
  return Error{ErrorCode::NotFound, fmt::format("'{}' was not sent with the job", name),
               "submit it with 'attune submit', which sends what it names"};
}

Result<std::string> JobFiles::model(const std::string& named) const {
  std::error_code ignored;
  if (!sent_) {
    if (!named.starts_with('/') || fs::exists(named, ignored)) return named;
    return Error{ErrorCode::NotFound, fmt::format("the model '{}' is not there any more", named),
                 "submit it again when it is"};
  }
  if (Result<std::string> sent = sent_file(named); sent.ok()) return sent;
  // Not what happens to lie where this process works.
  return model::may_be_file(named) ? sent_file(named) : named;
}

Result<verbs::JobOptions> JobFiles::options(verbs::JobOptions named) const {
  if (!sent_) return named;
  for (model::NamedFile& input : named.inputs) {
    ATTUNE_ASSIGN(input.path, sent_file(input.path));
  }
  for (std::string& constant : named.constants) {
    const std::size_t equals = constant.rfind('=');
    if (equals == std::string::npos || !constant.ends_with(".npy")) continue;
    ATTUNE_ASSIGN(const std::string path, sent_file(constant.substr(equals + 1)));
    constant = constant.substr(0, equals + 1) + path;
  }
  named.records.clear();
  named.history = "none";
  return named;
}

}  // namespace attune::job_worker
