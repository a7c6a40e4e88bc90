#include "app/job_worker/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json_depth.h"
#include "base/text_file.h"
#include "tuner/records/store.h"

namespace attune::job_worker {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between two looks at the lock
constexpr std::size_t kAtOnce = 1000;                   // records

}  // namespace

Result<JobFolder::Opened> JobFolder::open(const std::string& path, const std::atomic<bool>& dropped,
                                          double patience_seconds) {
  const SteadyClock clock;
  const std::int64_t start = clock.now_ns();
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) return write_error(path, failure.value());
  const std::string lock = path + "/lock";
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
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
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto stopped = json.is_object() ? json.find("stopped") : json.end();
  return JobReport{std::move(*text), stopped != json.end() && *stopped == true};
}

Status JobFolder::keep_report(const JobReport& report) const {
  return write_file_atomically(path_ + "/report.json", report.json);
}

Status JobFolder::merge_into(const std::string& path) const {
  ATTUNE_ASSIGN(const auto own, records::open_sqlite_store_for_reading(records()));
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store(path));
  std::vector<records::Record> some;
  std::set<std::string> keys;
  const auto flush = [&]() -> Status {
    const auto added = store->add_new(some);
    some.clear();
    return added.ok() ? Status() : Status(added.error());
  };
  ATTUNE_RETURN_IF_ERROR(own->visit({}, [&](const records::Record& record) -> Status {
    some.push_back(record);
    some.back().session = 0;  // sessions are this job's own
    keys.insert(record.task_key);
    return some.size() < kAtOnce ? Status() : flush();
  }));
  ATTUNE_RETURN_IF_ERROR(flush());
  for (const std::string& key : keys) {
    ATTUNE_ASSIGN(const auto task, own->task(key));
    if (task) ATTUNE_RETURN_IF_ERROR(store->put_task(*task));
  }
  return {};
}

}  // namespace attune::job_worker
