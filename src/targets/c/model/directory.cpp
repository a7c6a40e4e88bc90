// Folders that appear whole or not at all.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "targets/c/model/model.h"

namespace attune::c {
namespace {

namespace fs = std::filesystem;

Status write_files(const std::string& folder, const std::vector<SourceFile>& files) {
  for (const SourceFile& file : files) {
    ATTUNE_RETURN_IF_ERROR(write_file_atomically(folder + "/" + file.name, file.bytes));
  }
  return {};
}

// "DIR" of "DIR/".
std::string without_slashes(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

}  // namespace

Status check_directory(const std::string& written) {
  const std::string directory = without_slashes(written);
  std::error_code failure;
  const fs::file_status status = fs::status(directory, failure);
  if (!fs::exists(status)) {
    const std::string parent = fs::path(directory).parent_path().string();
    if (parent.empty() || fs::is_directory(parent, failure)) return {};
    return write_error(directory, fs::exists(parent, failure) ? ENOTDIR : ENOENT);
  }
  if (!fs::is_directory(status)) {
    return invalid("cannot write '" + directory + "': it is no directory",
                   "name a new directory for the sources");
  }
  const bool is_empty = fs::is_empty(directory, failure);
  if (failure) return write_error(directory, failure.value());
  if (is_empty) return {};
  return invalid("cannot write '" + directory + "': the directory holds files already",
                 "name a new directory, or remove this one first");
}

Status write_directory(const std::string& directory, const std::vector<SourceFile>& files) {
  const std::string target = without_slashes(directory);
  if (target.empty()) return invalid("cannot write '': the path is empty", "name a directory");
  ATTUNE_RETURN_IF_ERROR(check_directory(target));
  const std::string part = target + "." + std::to_string(::getpid()) + ".part";
  std::error_code failure;
  if (!fs::create_directory(part, failure)) {
    return write_error(target, failure ? failure.value() : EEXIST);
  }
  Status status = write_files(part, files);
  if (status.ok() && std::rename(part.c_str(), target.c_str()) != 0) {
    status = write_error(target, errno);
  }
  if (!status.ok()) fs::remove_all(part, failure);
  return status;
}

}  // namespace attune::c
