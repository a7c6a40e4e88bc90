#include "base/cage/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "attune-cage-";  // then the maker's number, then its own

Error failed(std::string_view verb, const std::string& path) {
  return Error{
      ErrorCode::Io, fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno)), {}};
}

// The root of the hierarchy alone has no type. It may have processes and groups side by side.
bool is_root(const std::string& folder) {
  return ::access((folder + "/cgroup.type").c_str(), F_OK) != 0;
}

// A group beside another does not have that one's limits, so there must be none that matter.
Status check_unlimited(const std::string& folder) {
  for (const char* name : {"memory.max", "memory.high", "cpu.max"}) {
    const std::string value = read_group_value(folder + "/" + name);
    if (value.empty() || value.starts_with("max")) continue;
    return unsupported(
        fmt::format("the control group {} has a limit of its own ({} {})", folder, name, value));
  }
  return {};
}

// The folder in which groups can be made.
Result<std::string> outside_of(const GroupPlace& place) {
  if (place.version != CgroupVersion::V2) {
    return unsupported("the memory controller is not in version 2 of control groups");
  }
  if (is_root(place.folder)) return place.folder;
  ATTUNE_RETURN_IF_ERROR(check_unlimited(place.folder));
  const std::string outside = fs::path(place.folder).parent_path().string();
  if (::access((outside + "/cgroup.procs").c_str(), W_OK) != 0) {
    return unsupported(fmt::format("the control groups in {} are not this user's", outside));
  }
  return outside;
}

// Groups have the controllers that the one above passes down.
Status pass_down(const std::string& outside) {
  const std::string control = outside + "/cgroup.subtree_control";
  for (const char* controller : {"memory", "pids"}) {
    if (has_group_word(read_group_value(control), controller)) continue;
    const bool there =
        has_group_word(read_group_value(outside + "/cgroup.controllers"), controller);
    // In the root it would be for the whole machine.
    if (!there || is_root(outside) ||
        !write_group_value(control, fmt::format("+{}", controller)).ok()) {
      return unsupported(
          fmt::format("the {} controller is not passed down by {}", controller, outside));
    }
  }
  return {};
}

// Of makers that were killed. A group with processes in it cannot be removed.
void remove_leftovers(const std::string& outside) {
  std::error_code failure;
  for (fs::directory_iterator at(outside, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    int maker = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), maker);
    if (maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH) ::rmdir(at->path().c_str());
  }
}

// With the first number that no other group of this process has.
Result<std::string> make_folder(const std::string& outside) {
  for (int number = 1;; ++number) {
    std::string folder = fmt::format("{}/{}{}-{}", outside, kPrefix, ::getpid(), number);
    if (::mkdir(folder.c_str(), 0755) == 0) return folder;
    if (errno != EEXIST) return failed("make", folder);
  }
}

}  // namespace

Status write_group_value(const std::string& path, std::string_view value) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed("open", path);
  const bool written = ::write(file, value.data(), value.size()) >= 0;
  const Status status = written ? Status() : failed("write", path);
  ::close(file);
  return status;
}

std::string read_group_value(const std::string& path) {
  std::array<char, 4096> piece;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, piece.data(), piece.size());
  if (file >= 0) ::close(file);
  std::string text(piece.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool has_group_word(std::string_view list, std::string_view word) {
  return fmt::format(" {} ", list).find(fmt::format(" {} ", word)) != std::string::npos;
}

ControlGroup::ControlGroup(std::string folder) : folder_(std::move(folder)), maker_(::getpid()) {}

Result<std::unique_ptr<ControlGroup>> ControlGroup::make(const GroupPlace& place) {
  ATTUNE_ASSIGN(const std::string outside, outside_of(place));
  ATTUNE_RETURN_IF_ERROR(pass_down(outside));
  remove_leftovers(outside);
  ATTUNE_ASSIGN(const std::string folder, make_folder(outside));
  std::unique_ptr<ControlGroup> group(new ControlGroup(folder));
  const std::string type = read_group_value(folder + "/cgroup.type");
  if (type.empty() || type == "domain") return group;
  return unsupported(
      fmt::format("a control group in {} can have no processes ({})", outside, type));
}

Result<std::unique_ptr<ControlGroup>> ControlGroup::make() {
  ATTUNE_ASSIGN(const GroupPlace place, find_control_group("memory"));
  return make(place);
}

Status ControlGroup::limit(const Limits& limits) const {
  const auto text = [](std::int64_t value) {
    return value < 0 ? std::string("max") : fmt::format("{}", value);
  };
  ATTUNE_RETURN_IF_ERROR(write_group_value(folder_ + "/memory.max", text(limits.memory_bytes)));
  // Otherwise what is beyond the limit goes to the disk. Not all kernels know it.
  if (limits.memory_bytes >= 0 && ::access((folder_ + "/memory.swap.max").c_str(), W_OK) == 0) {
    ATTUNE_RETURN_IF_ERROR(write_group_value(folder_ + "/memory.swap.max", "0"));
  }
  return write_group_value(folder_ + "/pids.max", text(limits.processes));
}

Status ControlGroup::enter() const { return write_group_value(folder_ + "/cgroup.procs", "0"); }

std::int64_t ControlGroup::ended_for_memory() const {
  constexpr std::string_view kKey = "oom_kill ";
  const std::string events = read_group_value(folder_ + "/memory.events");
  const std::size_t at = events.find(kKey);
  std::int64_t number = 0;
  if (at == events.npos) return number;
  std::from_chars(events.data() + at + kKey.size(), events.data() + events.size(), number);
  return number;
}

ControlGroup::~ControlGroup() {
  if (::getpid() != maker_) return;
  constexpr int kAttempts = 200;  // 1 ms apart: killed processes end soon
  const bool can_kill = ::access((folder_ + "/cgroup.kill").c_str(), W_OK) == 0;
  if (can_kill) (void)write_group_value(folder_ + "/cgroup.kill", "1").ok();
  for (int i = 0; i < kAttempts && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) {
    const timespec moment = {0, 1'000'000};
    (void)::nanosleep(&moment, nullptr);
  }
}

}  // namespace attune
