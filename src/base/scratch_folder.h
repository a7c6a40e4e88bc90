// A folder for what is not to stay: of a name that nobody can foresee, for its user alone, gone
// with all that is in it. Nothing else is written where all users write.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace attune {

class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace attune
