#include "fleet/server/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "fleet/server/private_folder.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {
namespace {

constexpr const char* kOtherHint = "name another folder with --state DIR";
// One that was killed ends only when the disk has answered it.
constexpr auto kWaitForWorkers = std::chrono::seconds(60);
constexpr auto kLookAgain = std::chrono::milliseconds(10);

Result<int> open_lock(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  Error error = write_error(path, errno);
  error.hint = kOtherHint;
  return error;
}

Error held(const std::string& state, int file) {
  char text[32] = {};
  const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
  const std::string pid(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return {ErrorCode::Io,
          fmt::format("a scheduler already serves '{}'{}", state,
                      pid.empty() ? "" : fmt::format(" (process {})", pid)),
          fmt::format("use that one, or {}", kOtherHint)};
}

}  // namespace

Result<StateLock> StateLock::take(const std::string& state) {
  ATTUNE_RETURN_IF_ERROR(make_private_folder(state));
  ATTUNE_ASSIGN(const int own, open_lock(wire::lock_path(state)));
  StateLock lock(own, -1);
  if (::flock(own, LOCK_EX | LOCK_NB) != 0) return held(state, own);
  const std::string pid = fmt::format("{}", ::getpid());
  if (::ftruncate(own, 0) != 0 ||
      ::pwrite(own, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return write_error(wire::lock_path(state), errno);
  }
  ATTUNE_ASSIGN(lock.workers_, open_lock((std::filesystem::path(state) / "workers.lock").string()));
  const auto deadline = std::chrono::steady_clock::now() + kWaitForWorkers;
  while (::flock(lock.workers_, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{ErrorCode::Io,
                   fmt::format("workers of an earlier scheduler of '{}' still run", state),
                   "end them and try again"};
    }
    std::this_thread::sleep_for(kLookAgain);
  }
  return lock;
}

StateLock::StateLock(StateLock&& other) noexcept
    : own_(std::exchange(other.own_, -1)), workers_(std::exchange(other.workers_, -1)) {}

StateLock::~StateLock() {
  if (workers_ >= 0) ::close(workers_);
  if (own_ >= 0) ::close(own_);
}

}  // namespace attune::server
