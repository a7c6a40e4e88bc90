// Files that somebody sends for a job, and those that a job made: what lies in the state folder is
// named by the server alone. Each upload is a folder of its own, "UID-" and 32 digits; its files
// have the names that were sent, which never lead out of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync_folder.h"
#include "fleet/jobs/book/user_limits.h"
#include "fleet/wire/jobs.pb.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {

struct UploadLimits {
  std::uint64_t bytes = jobs::kBytesOfAnUpload;
  std::size_t files = jobs::kFilesOfAnUpload;
  std::size_t waiting = jobs::kUploadsOfAUser;
  std::size_t waiting_of_others = jobs::kUploadsOfOthers;  // of all but the scheduler's user
  double waiting_seconds = 3600;                           // after which one is given up
  std::uint64_t left_on_disk = std::uint64_t{1} << 30;
};

// All of it works on the disk, and is done by one thread: of two that begin at once, both would
// find room for one.
class Upload {
 public:
  using SyncFile = std::function<Status(const std::string& path)>;

  static Result<Upload> begin(const std::string& state, std::uint32_t uid,
                              const UploadLimits& limits = {}, SyncFile sync = sync_file);
  Upload(Upload&& other) noexcept = default;
  Upload& operator=(Upload&&) = delete;
  ~Upload();  // without keep() nothing of it is left

  Status add(const v1::FilePart& part);
  // Its name, for the job that is submitted with it: all of it is on the disk.
  Result<std::string> finish();
  // Who sent it has heard its name.
  void keep() { owned_.clear(); }

 private:
  Upload(std::string name, std::string path, UploadLimits limits, SyncFile sync)
      : name_(std::move(name)), path_(std::move(path)), limits_(limits), sync_(std::move(sync)) {}
  Status open(const std::string& name);
  Status sync_all() const;

  std::string name_, path_;
  UploadLimits limits_;
  SyncFile sync_;
  wire::Descriptor folder_, file_;
  std::uint64_t bytes_ = 0;
  std::size_t files_ = 0;
  std::vector<std::string> owned_ = {};  // the path until it is kept; moves with the object
};

// Whether it is there.
bool has_upload(const std::string& state, const std::string& upload);
// Makes it part of a job's folder. The folders that must be synced before it is sure to be there.
Result<std::vector<std::string>> claim_upload(const std::string& state, const std::string& upload,
                                              const std::string& job);

// The files of an ended job that its owner may have.
std::vector<std::string> results_of(const std::string& state, const std::string& job);

}  // namespace attune::server
