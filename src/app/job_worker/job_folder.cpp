#include "app/job_worker/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/read_json.h"
#include "base/text_file.h"

namespace attune::job_worker {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between two looks at the lock

}  // namespace

Result<JobFolder::Opened> JobFolder::open(const std::string& path, const std::atomic<bool>& dropped,
                                          double patience_seconds) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) return write_error(path, failure.value());
  if (::chmod(path.c_str(), 0700) != 0) return write_error(path, errno);
  const std::string lock = path + "/lock";
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return write_error(lock, errno);
  JobFolder folder(path, descriptor);
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return write_error(lock, errno);
    if (dropped) return Error{ErrorCode::Exhausted, "stopped before its end", {}};
    if (seconds_between(start, clock.now_ns()) >= patience_seconds) {
      const Result<std::string> who = read_text_file(lock, kLargestSettingBytes);
      return Opened(Taken{who.ok() && !who->empty() ? "process " + *who : "another process"});
    }
    std::this_thread::sleep_for(kPause);
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return write_error(lock, errno);
  }
  folder.sweep();
  return Opened(std::move(folder));
}

JobFolder::JobFolder(JobFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

JobFolder::~JobFolder() {
  if (lock_ >= 0) ::close(lock_);
}

// Artifacts that a worker was about to compare when it was killed.
void JobFolder::sweep() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".untuned") || name.ends_with(".tuned")) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

Result<int> JobFolder::chosen(const std::string& name, int value) const {
  const std::string path = path_ + "/" + name;
  int before = 0;
  if (const Result<std::string> text = read_text_file(path, kLargestSettingBytes); text.ok()) {
    std::from_chars(text->data(), text->data() + text->size(), before);
  }
  if (before > 0) return before;
  ATTUNE_RETURN_IF_ERROR(write_file_atomically(path, std::to_string(value)));
  return value;
}

std::optional<JobReport> JobFolder::report() const {
  auto text = read_text_file(path_ + "/report.json", kLargestSettingBytes);
  if (!text.ok() || json_depth(*text) > kDeepestJson) return std::nullopt;
  const auto json = read_json<nlohmann::json>(*text);
  const auto stopped = json.is_object() ? json.find("stopped") : json.end();
  return JobReport{std::move(*text), stopped != json.end() && *stopped == true};
}

Status JobFolder::keep_report(const JobReport& report) const {
  return write_file_atomically(path_ + "/report.json", report.json);
}

}  // namespace attune::job_worker
