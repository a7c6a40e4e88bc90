#include "base/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "base/atomic_file.h"

namespace attune {

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code failure;
  std::string path = (std::filesystem::temp_directory_path(failure) / "attune_XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return write_error(path, errno);
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace attune
