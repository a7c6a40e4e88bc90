#include "tests/support/temporary_directory.h"

#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "base/check.h"

namespace attune::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "attune_test_XXXXXX").string();
  CHECK(::mkdtemp(name.data()) != nullptr, "cannot make a temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(std::string_view name, std::string_view contents) const {
  std::ofstream(file(name), std::ios::binary) << contents;
  return file(name);
}

std::string TemporaryDirectory::read(std::string_view name) const {
  std::ifstream stream(file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace attune::test
