// A directory of a test's own, gone with everything in it when the test ends.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attune::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  // Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view contents) const;
  std::string read(std::string_view name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace attune::test
