#include "fleet/server/retention/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/atomic_file.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"

namespace attune::server {
namespace {

namespace fs = std::filesystem;

double age_seconds(const fs::path& path) {
  std::error_code failure;
  const auto written = fs::last_write_time(path, failure);
  if (failure) return 0;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    const std::uint64_t size = entry.is_regular_file(ignored) ? entry.file_size(ignored) : 0;
    if (size != static_cast<std::uint64_t>(-1)) bytes += size;
  }
  return bytes;
}

bool is_log(const std::string& name) {
  return name.starts_with("worker-") && (name.ends_with(".log") || name.ends_with(".log.1"));
}

// The last bytes of a file, from the beginning of a line on.
std::string tail_of(int file, std::uint64_t size, std::uint64_t bytes) {
  std::string tail(bytes, '\0');
  const ssize_t got = ::pread(file, tail.data(), tail.size(), static_cast<off_t>(size - bytes));
  tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t line = tail.find('\n');
  return line == std::string::npos ? tail : tail.substr(line + 1);
}

// Who writes to it appends, and so goes on at its new end. What is written in between is lost.
void trim_log(const std::string& path, std::uint64_t size, std::uint64_t most_bytes) {
  const wire::Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) return;
  const std::string tail = tail_of(file.number(), size, std::min(size, most_bytes / 2));
  if (!write_file_atomically(path + ".1", tail).ok()) return;
  (void)::chmod((path + ".1").c_str(), 0600);
  (void)!::ftruncate(file.number(), 0);
}

}  // namespace

std::vector<std::string> job_folders(const std::string& state) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(wire::job_path(state, ""), ignored)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::uint64_t folder_bytes(const std::string& state, const std::string& job) {
  return bytes_below(wire::job_path(state, job));
}

std::uint64_t upload_bytes(const std::string& state, const std::string& upload) {
  return bytes_below(wire::upload_path(state, upload));
}

bool remove_job_folder(const std::string& state, const std::string& job) {
  const std::string folder = wire::job_path(state, job), lock = folder + "/lock";
  const wire::Descriptor held(::open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (held.is_open() && ::flock(held.number(), LOCK_EX | LOCK_NB) != 0) return false;
  std::error_code failure;
  fs::remove_all(folder, failure);
  return !failure;
}

double age_of_all_below(const std::string& folder) {
  double age = age_seconds(folder);
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (!entry.is_symlink(ignored)) age = std::min(age, age_seconds(entry.path()));
  }
  return age;
}

void remove_uploads(const std::string& state, double older_than_seconds) {
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(wire::upload_path(state, ""), ignored)) {
    if (age_of_all_below(entry.path().string()) >= older_than_seconds) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove_all(path, ignored);
}

void trim_logs(const std::string& state, std::uint64_t most_bytes, double older_than_seconds) {
  std::error_code ignored;
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(state, ignored)) {
    const bool is_file = !entry.is_symlink(ignored) && entry.is_regular_file(ignored);
    if (is_file && is_log(entry.path().filename().string())) logs.push_back(entry.path());
  }
  for (const fs::path& path : logs) {
    const std::uint64_t size = fs::file_size(path, ignored);
    if (age_seconds(path) > older_than_seconds) {
      fs::remove(path, ignored);
    } else if (size > most_bytes && size != static_cast<std::uint64_t>(-1)) {
      trim_log(path.string(), size, most_bytes);
    }
  }
}

}  // namespace attune::server
