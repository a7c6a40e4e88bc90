#include "fleet/server/core_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "base/cage/cage.h"
#include "base/cage/control_group.h"
#include "base/hash.h"
#include "fleet/wire/devices.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "attune-", kHost = "host", kDevice = wire::kMeasuringCores;
constexpr const char* kPartition = "/cpuset.cpus.partition";
constexpr int kEndTimeoutMs = 1000;  // for one process to end
constexpr int kRemoveAttempts = 8;
constexpr double kKeeperTimeoutMs =
    60'000;  // to remove all groups; it goes on where that is longer

Error failed(std::string_view verb, const std::string& path) {
  return Error{
      ErrorCode::Io, fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno)), {}};
}

// "0,2-3" as the kernel writes it.
std::vector<int> parse_list(const std::string& text) {
  std::vector<int> cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0;
    auto [stop, failure] = std::from_chars(at, end, first);
    if (failure != std::errc()) break;
    int last = first;
    if (stop < end && *stop == '-') stop = std::from_chars(stop + 1, end, last).ptr;
    for (int core = first; core <= last; ++core) cores.push_back(core);
    at = stop + 1;
  }
  return cores;
}

// What of a group's name says whose it is and which; empty when it is none of ours.
struct GroupName {
  std::string owner;   // "attune-PID-HASH-"
  std::string suffix;  // "host" or "cpuN"
  int pid = 0;
};
GroupName parse_name(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  if (!name.starts_with(kPrefix) || dash == name.npos) return {};
  GroupName parsed{name.substr(0, dash + 1), name.substr(dash + 1)};
  const char* const digits = name.data() + kPrefix.size();
  const auto [stop, failure] = std::from_chars(digits, name.data() + name.size(), parsed.pid);
  const bool is_ours = failure == std::errc() && *stop == '-' && stop < name.data() + dash &&
                       (parsed.suffix == kHost || parsed.suffix.starts_with(kDevice));
  return is_ours ? parsed : GroupName{};
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->is_directory(failure)) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Until those have ended whose numbers the file lists.
void wait_for_end(const std::string& threads_file) {
  std::ifstream file(threads_file);
  for (int pid = 0; file >> pid;) {
    if (pid == ::getpid()) continue;
    pollfd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), POLLIN, 0};
    if (process.fd < 0) continue;  // gone, or a thread of one that is listed too
    ::poll(&process, 1, kEndTimeoutMs);
    ::close(process.fd);
  }
}

}  // namespace

CoreGroups::CoreGroups(CgroupVersion version, std::string outside)
    : version_(version), outside_(std::move(outside)), may_isolate_(version == CgroupVersion::V2) {}

std::unique_ptr<CoreGroups> CoreGroups::around(const GroupPlace& place) {
  const fs::path here = place.folder;
  const GroupName own = parse_name(here.filename().string());
  if (own.suffix != kHost) return nullptr;
  std::unique_ptr<CoreGroups> groups(new CoreGroups(place.version, here.parent_path().string()));
  for (const std::string& name : folders_in(groups->outside_)) {
    const GroupName parsed = parse_name(name);
    if (parsed.owner != own.owner) continue;
    const std::string folder = groups->outside_ + "/" + name;
    groups->groups_.push_back(
        {folder, parse_list(read_group_value(folder + "/cpuset.cpus")), parsed.suffix != kHost});
  }
  return groups;
}

std::string CoreGroups::threads_file(const std::string& folder) const {
  return folder + (version_ == CgroupVersion::V1 ? "/tasks" : "/cgroup.threads");
}

const CoreGroup* CoreGroups::group_of(std::span<const int> cores) const {
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const CoreGroup& group) {
    return std::all_of(cores.begin(), cores.end(), [&](int core) {
      return std::binary_search(group.cores.begin(), group.cores.end(), core);
    });
  });
  return found == groups_.end() ? nullptr : &*found;
}

void CoreGroups::enter(std::span<const int> cores) const {
  const CoreGroup* group = group_of(cores);
  if (group == nullptr || !write_group_value(threads_file(group->folder), "0").ok()) {
    // Where every core can be had. Should that fail too, pinning will say so.
    (void)write_group_value(threads_file(outside_), "0").ok();
    return;
  }
  if (group->is_device && may_isolate_ && !isolate(*group)) may_isolate_ = false;
}

void CoreGroups::leave(std::span<const int> cores) const {
  const CoreGroup* group = group_of(cores);
  if (group != nullptr && group->is_device && may_isolate_) release(*group);
}

// The kernel may accept the word and say afterwards that it does not hold.
bool CoreGroups::isolate(const CoreGroup& group) const {
  for (const std::string_view kind : {"isolated", "root"}) {
    if (read_group_value(group.folder + kPartition) == kind) return true;
    if (write_group_value(group.folder + kPartition, kind).ok() &&
        read_group_value(group.folder + kPartition) == kind) {
      return true;
    }
  }
  release(group);
  return false;
}

void CoreGroups::release(const CoreGroup& group) const {
  (void)write_group_value(group.folder + kPartition, "member").ok();
}

std::vector<int> CoreGroups::host_cores() const {
  for (const CoreGroup& group : groups_) {
    if (!group.is_device) return group.cores;
  }
  return {};
}

std::vector<int> CoreGroups::all_cores() const {
  std::vector<int> cores;
  for (const CoreGroup& group : groups_) {
    cores.insert(cores.end(), group.cores.begin(), group.cores.end());
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

OwnCoreGroups::OwnCoreGroups(const GroupPlace& place, std::string name)
    : groups_(place.version, place.folder), name_(std::move(name)) {}

Result<std::unique_ptr<OwnCoreGroups>> OwnCoreGroups::make(
    const GroupPlace& place, const std::string& name, const std::vector<int>& host,
    const std::vector<std::vector<int>>& devices) {
  std::unique_ptr<OwnCoreGroups> own(new OwnCoreGroups(place, name));
  ATTUNE_RETURN_IF_ERROR(own->allow_groups());
  ATTUNE_RETURN_IF_ERROR(own->add(std::string(kHost), host, false));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    ATTUNE_RETURN_IF_ERROR(own->add(fmt::format("{}{}", kDevice, i), devices[i], true));
  }
  ATTUNE_RETURN_IF_ERROR(own->start_keeper());
  CoreGroups& groups = own->groups_;
  ATTUNE_RETURN_IF_ERROR(write_group_value(groups.groups_.front().folder + "/cgroup.procs", "0"));
  own->moved_ = true;
  for (const CoreGroup& group : groups.groups_) {
    if (!group.is_device || !groups.may_isolate_) continue;
    groups.may_isolate_ = groups.isolate(group);
    groups.release(group);
  }
  return own;
}

// Version 2 has the controller only where it was passed down.
Status OwnCoreGroups::allow_groups() {
  const std::string& folder = groups_.outside_;
  if (groups_.version_ == CgroupVersion::V1) return {};
  if (!has_group_word(read_group_value(folder + "/cgroup.controllers"), "cpuset")) {
    return unsupported(fmt::format("the cpuset controller is not delegated to {}", folder));
  }
  const std::string control = folder + "/cgroup.subtree_control";
  if (has_group_word(read_group_value(control), "cpuset")) return {};
  ATTUNE_RETURN_IF_ERROR(write_group_value(control, "+cpuset"));
  enabled_ = true;
  return {};
}

Status OwnCoreGroups::add(const std::string& suffix, std::vector<int> cores, bool is_device) {
  std::sort(cores.begin(), cores.end());
  const std::string& outside = groups_.outside_;
  const std::string folder = fmt::format("{}/{}-{}", outside, name_, suffix);
  // One that is there is of a process that had our number before us.
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return failed("make", folder);
  groups_.groups_.push_back({folder, cores, is_device});
  const std::string list = fmt::format("{}", fmt::join(cores, ","));
  if (groups_.version_ == CgroupVersion::V1) {
    std::string memory = read_group_value(outside + "/cpuset.effective_mems");
    if (memory.empty()) memory = read_group_value(outside + "/cpuset.mems");
    ATTUNE_RETURN_IF_ERROR(write_group_value(folder + "/cpuset.mems", memory));
    return write_group_value(folder + "/cpuset.cpus", list);
  }
  // So that threads of one process can be in different groups.
  ATTUNE_RETURN_IF_ERROR(write_group_value(folder + "/cgroup.type", "threaded"));
  ATTUNE_RETURN_IF_ERROR(write_group_value(folder + "/cpuset.cpus", list));
  // Newer kernels want it for partitions below groups that are none themselves.
  if (is_device) (void)write_group_value(folder + "/cpuset.cpus.exclusive", list).ok();
  return {};
}

void OwnCoreGroups::release_all() const {
  if (groups_.version_ == CgroupVersion::V1) return;
  for (const CoreGroup& group : groups_.groups_) {
    if (group.is_device) groups_.release(group);
  }
}

void OwnCoreGroups::remove_leftovers() const {
  remove_leftover_groups({groups_.version_, groups_.outside_});
}

Status OwnCoreGroups::start_keeper() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make", "a pipe");
  keeper_ = ::fork();
  if (keeper_ == 0) {
    ::setsid();  // signals of the terminal are not for it
    ::prctl(PR_SET_NAME, "attune-keeper");
    ::dup2(ends[0], STDIN_FILENO);
    ::close_range(STDIN_FILENO + 1, ~0u, 0);
    char nothing = 0;
    while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR) continue;
    remove_groups();
    ::_exit(0);
  }
  const Status started = keeper_ < 0 ? failed("start", "a process") : Status();
  ::close(ends[0]);
  lifeline_ = ends[1];
  return started;
}

OwnCoreGroups::~OwnCoreGroups() {
  if (moved_) (void)write_group_value(groups_.outside_ + "/cgroup.procs", "0").ok();
  if (lifeline_ >= 0) ::close(lifeline_);
  if (keeper_ < 0) remove_groups();
  if (keeper_ > 0) (void)await_exit(keeper_, kKeeperTimeoutMs);
}

void OwnCoreGroups::remove_groups() const {
  release_all();
  for (const CoreGroup& group : groups_.groups_) {
    for (int i = 0; i < kRemoveAttempts && ::rmdir(group.folder.c_str()) != 0; ++i) {
      if (errno != EBUSY) break;
      wait_for_end(groups_.threads_file(group.folder));
    }
  }
  if (!enabled_) return;
  const std::vector<std::string> others = folders_in(groups_.outside_);
  if (others.empty()) {
    (void)write_group_value(groups_.outside_ + "/cgroup.subtree_control", "-cpuset").ok();
  }
}

std::string core_groups_name(const std::string& state) {
  return fmt::format("{}{}-{}", kPrefix, ::getpid(), hex64(hash_bytes(state)));
}

void remove_leftover_groups(const GroupPlace& place) {
  std::map<std::string, std::vector<std::string>> devices;  // by their owners
  for (const std::string& name : folders_in(place.folder)) {
    const GroupName parsed = parse_name(name);
    if (parsed.suffix.empty() || ::kill(parsed.pid, 0) == 0 || errno != ESRCH) continue;
    std::vector<std::string>& of_owner = devices[parsed.owner];
    if (parsed.suffix != kHost) of_owner.push_back(place.folder + "/" + name);
  }
  for (const auto& [owner, folders] : devices) {
    // A group with processes cannot be removed: that of a scheduler whose number is not seen here.
    const std::string host = fmt::format("{}/{}{}", place.folder, owner, kHost);
    if (::rmdir(host.c_str()) != 0 && errno != ENOENT) continue;
    for (const std::string& folder : folders) ::rmdir(folder.c_str());
  }
}

}  // namespace attune::server
