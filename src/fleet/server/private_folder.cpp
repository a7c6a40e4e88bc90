#include "fleet/server/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "fleet/wire/denied.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "fleet/wire/user_name.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;
constexpr const char* kOther = "name another folder with --state DIR";
constexpr mode_t kAllOfIt = 07777;

Error cannot(std::string_view what, const std::string& path, int error) {
  return {ErrorCode::Io, fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)),
          kOther};
}

// What a scheduler makes in its folder, by its name there.
bool is_ours(const std::string& name) {
  for (const char* own :
       {"scheduler.db", "scheduler.db-wal", "scheduler.db-shm", "scheduler.db-journal", "lock",
        "workers.lock", "address", "colocation.json", "jobs", "uploads"}) {
    if (name == own) return true;
  }
  return name.starts_with("worker-") && (name.ends_with(".log") || name.ends_with(".log.1"));
}

// Links are left as they are, also those that somebody puts there meanwhile: what they point to is
// somebody's own business.
void close_to_others(const fs::path& path) {
  const wire::Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) (void)!::fchmod(file.number(), 0700);
  if (S_ISREG(status.st_mode)) (void)!::fchmod(file.number(), 0600);
}

void close_all_within(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (!is_ours(entry.path().filename().string())) continue;
    close_to_others(entry.path());
    if (entry.is_symlink(ignored) || !entry.is_directory(ignored)) continue;
    for (const auto& below : fs::recursive_directory_iterator(entry.path(), ignored)) {
      close_to_others(below.path());
    }
  }
}

// Empty, or with what every scheduler leaves, or what was measured for one before it began.
Status check_is_for_a_scheduler(const std::string& path) {
  std::error_code failure;
  if (fs::is_empty(path, failure) || failure) return {};
  for (const std::string& own :
       {wire::database_path(path), wire::lock_path(path), wire::colocation_path(path)}) {
    if (fs::exists(own, failure)) return {};
  }
  return invalid(fmt::format("'{}' is not empty and no folder of a scheduler", path), kOther);
}

// The folder itself, which is there, belongs to this user and has no more rights than asked for.
Result<wire::Descriptor> open_own_folder(const std::string& path, mode_t mode) {
  std::error_code failure;
  fs::create_directories(fs::path(path).parent_path(), failure);
  if (!failure && ::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    failure = {errno, std::generic_category()};
  }
  if (failure) return cannot("create folder", path, failure.value());
  wire::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return cannot("open folder", path, errno);
  struct stat status = {};
  if (::fstat(folder.number(), &status) != 0) return cannot("look at folder", path, errno);
  if (status.st_uid == ::geteuid()) return folder;
  return wire::denied(fmt::format("'{}' is {}'s, a scheduler of {} cannot use it", path,
                                  wire::user_name(status.st_uid), wire::user_name(::geteuid())),
                      kOther);
}

}  // namespace

Status make_private_folder(const std::string& path) {
  ATTUNE_ASSIGN(const wire::Descriptor folder, open_own_folder(path, 0700));
  ATTUNE_RETURN_IF_ERROR(check_is_for_a_scheduler(path));
  struct stat status = {};
  if (::fstat(folder.number(), &status) != 0) return cannot("look at folder", path, errno);
  if ((status.st_mode & kAllOfIt) == 0700) return {};
  if (::fchmod(folder.number(), 0700) != 0) return cannot("close folder", path, errno);
  close_all_within(path);
  return {};
}

Result<gid_t> find_group(const std::string& name) {
  group entry = {};
  group* found = nullptr;
  std::vector<char> room(1 << 16);
  if (::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) == 0 &&
      found != nullptr) {
    return found->gr_gid;
  }
  return invalid(fmt::format("there is no group '{}'", name),
                 "'getent group' lists the groups of this machine");
}

Status make_shared_folder(const std::string& path, gid_t group) {
  ATTUNE_ASSIGN(const wire::Descriptor folder, open_own_folder(path, 0700));
  // Closed first: nobody of another group gets in between.
  if (::fchmod(folder.number(), 0700) != 0 ||
      ::fchown(folder.number(), static_cast<uid_t>(-1), group) != 0) {
    Error error = cannot("share folder", path, errno);
    error.hint = "its user must be in the group that it is shared with";
    return error;
  }
  if (::fchmod(folder.number(), 0750) != 0) return cannot("share folder", path, errno);
  return {};
}

}  // namespace attune::server
