#include "tuner/records/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/input_file.h"

namespace attune::records {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kLongestLine = std::size_t{1} << 24;

Error cannot_read(const std::string& path, const std::string& why) {
  return {ErrorCode::Io, fmt::format("cannot read '{}': {}", path, why), {}};
}

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

Result<File> open(const std::string& path) {
  ATTUNE_ASSIGN(const InputFile input, InputFile::open(path));
  const int own = ::fcntl(input.descriptor(), F_DUPFD_CLOEXEC, 0);  // zlib closes it
  if (own < 0) return cannot_read(path, std::strerror(errno));
  File file(gzdopen(own, "rb"));
  if (file) return file;
  ::close(own);
  return cannot_read(path, "out of memory");
}

}  // namespace

Status visit_lines(const std::string& path, const std::function<bool(std::string_view)>& take) {
  ATTUNE_ASSIGN(const File file, open(path));
  std::array<char, kChunk> chunk;
  std::string rest;
  while (true) {
    const int read = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    int code = Z_OK;
    const char* const message = gzerror(file.get(), &code);
    const bool ends_early = code == Z_BUF_ERROR;
    if (read < 0 && !ends_early) return cannot_read(path, message);
    if (read <= 0 && ends_early) return cannot_read(path, "the compressed data ends early");
    if (read == 0) break;
    std::string_view bytes(chunk.data(), static_cast<std::size_t>(read));
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos;
         end = bytes.find('\n')) {
      rest += bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (!take(rest)) return {};
      rest.clear();
    }
    rest += bytes;
    if (rest.size() > kLongestLine) {
      return cannot_read(path, fmt::format("a line is longer than {} MiB", kLongestLine >> 20));
    }
  }
  if (!rest.empty()) take(rest);
  return {};
}

}  // namespace attune::records
