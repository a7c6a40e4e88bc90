#include "base/file_system.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::uint32_t number;
  std::string_view name;
};
// Where other machines have the files: served by one, shared by many, or of the host of a virtual
// machine. The numbers are those of statfs(2) and of the file systems themselves.
constexpr Kind kKinds[] = {
    {0x6969, "nfs"},        {0x517b, "smb"},        {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},   {0x01021997, "9p"},     {0x5346414f, "afs"},
    {0x6b414653, "afs"},    {0x73757245, "coda"},   {0x564c, "ncp"},
    {0x00c36400, "ceph"},   {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},
    {0x19830326, "beegfs"}, {0xaad7aaea, "panfs"},  {0x20030528, "orangefs"},
    {0x7461636f, "ocfs2"},  {0x01161970, "gfs2"},   {0x786f4256, "vboxsf"},
    {0xbacbacbc, "vmhgfs"}, {0x7c7c6673, "prl_fs"},
};

// Everything that is served by a process has one number. These go over a network; others (NTFS,
// encrypted folders, unions) do not.
constexpr std::uint32_t kFuse = 0x65735546;
constexpr std::string_view kFuseKinds[] = {
    "virtiofs",       "fuse.sshfs",     "fuse.glusterfs",  "fuse.ceph-fuse", "fuse.ceph",
    "fuse.s3fs",      "fuse.rclone",    "fuse.gcsfuse",    "fuse.goofys",    "fuse.mount-s3",
    "fuse.blobfuse",  "fuse.blobfuse2", "fuse.juicefs",    "fuse.davfs",     "fuse.davfs2",
    "fuse.curlftpfs", "fuse.smbnetfs",  "fuse.gvfsd-fuse", "fuse.mfs",       "fuse.moosefs",
    "fuse.lizardfs",  "fuse.seaweedfs", "fuse.grpcfuse",   "fuse.osxfs",     "fuse.afsd",
};

// The type of the mount with this device: "36 35 98:0 /a /b rw master:1 - ext3 /dev/root rw".
std::string mount_type(std::uint64_t device, std::string_view mounts) {
  const std::string wanted =
      std::to_string(gnu_dev_major(device)) + ":" + std::to_string(gnu_dev_minor(device));
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, numbers;
    words >> word >> word >> numbers;
    if (numbers != wanted) continue;
    while (words >> word && word != "-") continue;
    if (words >> word) return word;
  }
  return {};
}

std::string mounts_here() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<std::string> network_file_system(std::uint32_t kind, std::uint64_t device,
                                               std::string_view mounts) {
  if (kind == kFuse) {
    const std::string type = mount_type(device, mounts);
    const auto* found = std::find(std::begin(kFuseKinds), std::end(kFuseKinds), type);
    return found == std::end(kFuseKinds) ? std::nullopt : std::optional(type);
  }
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& each) { return each.number == kind; });
  return found == std::end(kKinds) ? std::nullopt : std::optional(std::string(found->name));
}

std::optional<std::string> network_file_system(const std::string& path) {
  if (const char* stated = std::getenv("ATTUNE_FILE_SYSTEM"); stated != nullptr && *stated != 0) {
    return std::string_view(stated) == "local" ? std::nullopt : std::optional<std::string>(stated);
  }
  std::error_code failure;
  fs::path place = fs::absolute(path, failure);
  while (!failure && !fs::exists(place, failure) && place.has_relative_path()) {
    place = place.parent_path();
  }
  struct statfs system = {};
  struct stat status = {};
  if (failure || ::statfs(place.c_str(), &system) != 0 || ::stat(place.c_str(), &status) != 0) {
    return std::nullopt;
  }
  const auto kind = static_cast<std::uint32_t>(system.f_type);
  return network_file_system(kind, status.st_dev, kind == kFuse ? mounts_here() : std::string());
}

}  // namespace attune
