#include "base/text_file.h"

#include "base/input_file.h"

namespace attune {

Result<std::string> read_text_file(const std::string& path, std::uint64_t most) {
  ATTUNE_ASSIGN(const InputFile file, InputFile::open(path));
  return file.read(most);
}

}  // namespace attune
