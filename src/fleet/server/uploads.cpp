#include "fleet/server/uploads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "fleet/server/retention/leftovers.h"
#include "fleet/wire/secret.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLongestName = 200;
constexpr int kDeepest = 10;

// Where a name leads, piece by piece; nothing for one that is no plain way down.
std::vector<std::string> pieces_of(const std::string& name) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string piece = name.substr(at, end - at);
    const bool plain = !piece.empty() && piece != "." && piece != ".." &&
                       piece.size() <= kLongestName && piece.find('\0') == std::string::npos;
    if (!plain || pieces.size() >= kDeepest) return {};
    pieces.push_back(piece);
    at = end + 1;
  }
  return pieces;
}

Error exhausted(std::string message, std::string hint) {
  return {ErrorCode::Exhausted, std::move(message), std::move(hint)};
}

// That no job has: of one user, and of all but the scheduler's. Old ones are given up.
struct Waiting {
  std::size_t own = 0, of_others = 0;
};
Waiting count_waiting(const std::string& folder, std::uint32_t uid, double longest_seconds) {
  const auto is_of = [](const std::string& name, std::uint32_t user) {
    return name.starts_with(fmt::format("{}-", user));
  };
  Waiting waiting;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool own = is_of(name, uid), of_others = !is_of(name, ::geteuid());
    if (!own && !of_others) continue;
    if (age_of_all_below(entry.path().string()) < longest_seconds) {
      waiting.own += own ? 1 : 0;
      waiting.of_others += of_others ? 1 : 0;
    } else {
      fs::remove_all(entry.path(), ignored);
    }
  }
  return waiting;
}

Status check_waiting(const Waiting& waiting, std::uint32_t uid, const UploadLimits& limits) {
  if (waiting.own >= limits.waiting) {
    return exhausted(
        fmt::format("{} uploads of this user wait for their jobs already", waiting.own),
        "submit those first; the scheduler forgets them after an hour");
  }
  if (uid == ::geteuid() || waiting.of_others < limits.waiting_of_others) return {};
  return exhausted(fmt::format("{} uploads of users who share this scheduler wait for their jobs "
                               "already",
                               waiting.of_others),
                   "try again later; the scheduler forgets them after an hour");
}

}  // namespace

Result<Upload> Upload::begin(const std::string& state, std::uint32_t uid,
                             const UploadLimits& limits, SyncFile sync) {
  const std::string all = wire::upload_path(state, "");
  if (::mkdir(all.c_str(), 0700) != 0 && errno != EEXIST) return write_error(all, errno);
  ATTUNE_RETURN_IF_ERROR(
      check_waiting(count_waiting(all, uid, limits.waiting_seconds), uid, limits));
  const std::string name = fmt::format("{}-{}", uid, wire::random_secret(16));
  const std::string path = wire::upload_path(state, name);
  if (::mkdir(path.c_str(), 0700) != 0) return write_error(path, errno);
  Upload upload(name, path, limits, std::move(sync));
  upload.owned_.push_back(path);
  upload.folder_ = wire::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!upload.folder_.is_open()) return write_error(path, errno);
  return upload;
}

Upload::~Upload() {
  std::error_code ignored;
  for (const std::string& path : owned_) fs::remove_all(path, ignored);
}

Status Upload::open(const std::string& name) {
  const std::vector<std::string> pieces = pieces_of(name);
  if (pieces.empty()) {
    return invalid(fmt::format("'{}' cannot be the name of a file that is sent", name),
                   "names are relative, without '..'");
  }
  if (++files_ > limits_.files) {
    return exhausted(fmt::format("more than {} files are sent for one job", limits_.files), {});
  }
  std::string below;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    below += (i == 0 ? "" : "/") + pieces[i];
    if (::mkdirat(folder_.number(), below.c_str(), 0700) != 0 && errno != EEXIST) {
      return write_error(name, errno);
    }
  }
  file_ = wire::Descriptor(::openat(folder_.number(), name.c_str(),
                                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file_.is_open()) return {};
  if (errno == EEXIST) return invalid(fmt::format("the file '{}' is sent twice", name));
  return write_error(name, errno);
}

Status Upload::add(const v1::FilePart& part) {
  if (!part.name().empty()) ATTUNE_RETURN_IF_ERROR(open(part.name()));
  if (!file_.is_open()) return invalid("the first part that is sent names no file");
  bytes_ += part.data().size();
  if (bytes_ > limits_.bytes) {
    return exhausted(fmt::format("more than {} MiB are sent for one job", limits_.bytes >> 20),
                     "let its user submit it on this machine by their own scheduler");
  }
  struct statvfs disk = {};
  if (::fstatvfs(folder_.number(), &disk) == 0 &&
      std::uint64_t{disk.f_bavail} * disk.f_frsize < limits_.left_on_disk) {
    return exhausted("the disk of the scheduler has no room for files of others",
                     "try again later, or tell its user");
  }
  for (std::size_t at = 0; at < part.data().size();) {
    const ssize_t some = ::write(file_.number(), part.data().data() + at, part.data().size() - at);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return write_error(name_, errno);
    at += static_cast<std::size_t>(some);
  }
  return {};
}

Result<std::string> Upload::finish() {
  if (files_ == 0) return invalid("no file was sent");
  struct stat folder = {};
  if (::fstat(folder_.number(), &folder) != 0 || folder.st_nlink == 0) {
    return exhausted("nothing was sent for too long, and the upload was given up",
                     "submit the job again");
  }
  ATTUNE_RETURN_IF_ERROR(sync_all());
  return name_;
}

// What others write to the same disk is not waited for.
Status Upload::sync_all() const {
  std::error_code failure;
  fs::recursive_directory_iterator entry(path_, failure);
  for (; !failure && entry != fs::end(entry); entry.increment(failure)) {
    const std::string path = entry->path().string();
    ATTUNE_RETURN_IF_ERROR(entry->is_directory(failure) ? sync_folder(path) : sync_(path));
  }
  if (failure) return write_error(name_, failure.value());
  return sync_folder(path_);
}

bool has_upload(const std::string& state, const std::string& upload) {
  struct stat status = {};
  return ::lstat(wire::upload_path(state, upload).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::vector<std::string>> claim_upload(const std::string& state, const std::string& upload,
                                              const std::string& job) {
  const std::string folder = wire::job_path(state, job), to = folder + "/" + upload;
  const std::string all = wire::job_path(state, ""), from = wire::upload_path(state, upload);
  if (::mkdir(all.c_str(), 0700) != 0 && errno != EEXIST) return write_error(all, errno);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return write_error(folder, errno);
  if (::rename(from.c_str(), to.c_str()) != 0) return write_error(to, errno);
  return std::vector<std::string>{folder, all, state, wire::upload_path(state, "")};
}

std::vector<std::string> results_of(const std::string& state, const std::string& job) {
  std::vector<std::string> names;
  for (const char* name : {"model.attune", "records.db"}) {
    struct stat status = {};
    const std::string path = wire::job_path(state, job) + "/" + name;
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) names.emplace_back(name);
  }
  return names;
}

}  // namespace attune::server
