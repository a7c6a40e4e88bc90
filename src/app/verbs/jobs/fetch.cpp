#include "app/verbs/jobs/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/scratch_folder.h"
#include "base/utf8.h"
#include "compiler/model/load/model.h"
#include "compiler/model/schedules/known_schedule.h"
#include "compiler/model/text/model_text.h"
#include "fleet/client/client.h"
#include "tuner/records/merge.h"

namespace attune::verbs {
namespace {

constexpr const char* kOtherHint = "name a file with -o FILE";

namespace fs = std::filesystem;

bool is_control(unsigned char c) { return c < ' ' || c == 127; }

// A name that somebody else chose, for a message.
std::string on_screen(std::string name) {
  std::replace_if(name.begin(), name.end(), is_control, '?');
  return as_utf8(name);
}

// The name that the scheduler has for the artifact is a path of whoever submitted the job. Here
// only its end counts, and a scheduler of another user does not choose what is written with our
// rights.
Status check_name(const std::string& name) {
  const bool plain = model_text::is_artifact_name(name) && !name.starts_with('.') &&
                     std::none_of(name.begin(), name.end(), is_control);
  if (!plain) {
    return invalid(fmt::format("the scheduler names the artifact '{}', which is no plain name that "
                               "ends in .attune",
                               on_screen(name)),
                   kOtherHint);
  }
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(name, ignored))) return {};
  if (fs::is_regular_file(name, ignored) && model::holds_artifact(name)) return {};
  return invalid(fmt::format("'{}' is there and is no artifact, so that it is not replaced", name),
                 kOtherHint);
}

// Files as they come: each is written under the place that its name has here, and whole or not at
// all.
class Arriving {
 public:
  Arriving(const FetchOptions& options, std::string artifact, std::string records)
      : options_(options), artifact_(std::move(artifact)), records_(std::move(records)) {}

  Status take(const std::string& name, std::string_view bytes) {
    bytes_ += bytes.size();
    if (bytes_ > options_.most_bytes) {
      return Error{ErrorCode::Exhausted,
                   fmt::format("the scheduler sends more than {} bytes", options_.most_bytes),
                   "ask whoever runs it what the job made"};
    }
    if (name != name_) {
      ATTUNE_RETURN_IF_ERROR(end());
      name_ = name;
      ATTUNE_RETURN_IF_ERROR(begin());
    }
    return file_ ? file_->write(bytes) : Status();
  }
  Status end() {
    if (!file_) return {};
    const Status written = file_->commit();
    file_.reset();
    return written;
  }
  bool has_artifact() const { return has_artifact_; }
  bool has_records() const { return has_records_; }

 private:
  Status begin() {
    const bool is_artifact = name_ == "model.attune";
    if (!is_artifact && name_ != "records.db") return {};  // of a later version
    if (is_artifact && options_.output.empty()) ATTUNE_RETURN_IF_ERROR(check_name(artifact_));
    ATTUNE_ASSIGN(AtomicFile made, AtomicFile::create(is_artifact ? artifact_ : records_));
    file_.emplace(std::move(made));
    (is_artifact ? has_artifact_ : has_records_) = true;
    return {};
  }

  const FetchOptions& options_;
  std::string artifact_, records_, name_;
  std::uint64_t bytes_ = 0;
  std::optional<AtomicFile> file_;
  bool has_artifact_ = false, has_records_ = false;
};

}  // namespace

Result<FetchReport> fetch_job(const FetchOptions& options, const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions how, client_options(scheduler));
  client::Client client(std::move(how));
  ATTUNE_ASSIGN(const client::Overview overview, client.list(options.job, false));
  const client::JobRequest& request = overview.jobs.front().request;
  FetchReport report{.output = options.output.empty() ? fs::path(request.output).filename().string()
                                                      : options.output};
  ATTUNE_ASSIGN(report.records, model::records_path(options.records));
  ATTUNE_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  const std::string came = folder.path() + "/records.db";
  Arriving arriving(options, report.output, came);
  ATTUNE_RETURN_IF_ERROR(client.fetch(options.job, [&](const std::string& name, auto bytes) {
    return arriving.take(name, bytes);
  }));
  ATTUNE_RETURN_IF_ERROR(arriving.end());
  if (!arriving.has_artifact()) report.output.clear();
  if (arriving.has_records()) {
    ATTUNE_RETURN_IF_ERROR(records::merge_stores(came, report.records));
  } else {
    report.records.clear();
  }
  return report;
}

}  // namespace attune::verbs
