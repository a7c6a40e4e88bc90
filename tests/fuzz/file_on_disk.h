// One file for all inputs of a harness whose reader opens a database by its path, gone when the
// process ends.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"

namespace attune::fuzz {

class FileOnDisk {
 public:
  FileOnDisk() : path_("/tmp/attune_fuzz_file_XXXXXX") {
    descriptor_ = ::mkstemp(path_.data());
    CHECK(descriptor_ >= 0, "a temporary file can be made");
  }
  ~FileOnDisk() {
    ::close(descriptor_);
    for (const char* end : {"", "-wal", "-shm"}) std::remove((path_ + end).c_str());
  }
  FileOnDisk(const FileOnDisk&) = delete;
  FileOnDisk& operator=(const FileOnDisk&) = delete;

  // From now on its content is this, and there is no log beside it.
  const std::string& hold(std::string_view bytes) const {
    for (const char* end : {"-wal", "-shm"}) std::remove((path_ + end).c_str());
    CHECK(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                       0) == static_cast<ssize_t>(bytes.size()),
          "there is room for the file");
    return path_;
  }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace attune::fuzz
