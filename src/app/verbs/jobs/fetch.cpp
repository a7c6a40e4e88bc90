#include "app/verbs/jobs/fetch.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/scratch_folder.h"
#include "compiler/model/schedules/known_schedule.h"
#include "fleet/client/client.h"
#include "tuner/records/merge.h"

namespace attune::verbs {
namespace {

// Files as they come: each is written under the place that its name has here, and whole or not at
// all.
class Arriving {
 public:
  Arriving(std::string artifact, std::string records)
      : artifact_(std::move(artifact)), records_(std::move(records)) {}

  Status take(const std::string& name, std::string_view bytes) {
    if (name != name_) {
      ATTUNE_RETURN_IF_ERROR(end());
      name_ = name;
      const std::string path = name == "model.attune" ? artifact_
                               : name == "records.db" ? records_
                                                      : std::string();
      if (path.empty()) return {};  // of a later version
      ATTUNE_ASSIGN(AtomicFile made, AtomicFile::create(path));
      file_.emplace(std::move(made));
      (name == "model.attune" ? has_artifact_ : has_records_) = true;
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
  std::string artifact_, records_, name_;
  std::optional<AtomicFile> file_;
  bool has_artifact_ = false, has_records_ = false;
};

}  // namespace

Result<FetchReport> fetch_job(const FetchOptions& options, const SchedulerOptions& scheduler) {
  ATTUNE_ASSIGN(client::ClientOptions how, client_options(scheduler));
  client::Client client(std::move(how));
  ATTUNE_ASSIGN(const client::Overview overview, client.list(options.job, false));
  const client::JobRequest& request = overview.jobs.front().request;
  FetchReport report{.output = options.output.empty()
                                   ? std::filesystem::path(request.output).filename().string()
                                   : options.output};
  ATTUNE_ASSIGN(report.records, model::records_path(options.records));
  ATTUNE_ASSIGN(const ScratchFolder folder, ScratchFolder::make());
  const std::string came = folder.path() + "/records.db";
  Arriving arriving(report.output, came);
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
