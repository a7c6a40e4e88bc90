#include "targets/cpu/codegen/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <lld/Common/Driver.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

namespace attune::cpu {
namespace {

constexpr int kPipeBytes = 1 << 20;
// More than headers, tables and the padding between segments can take.
constexpr int kLinkerOverhead = 512 << 10;

Error failed(const char* action) {
  return {ErrorCode::Io,
          fmt::format("cannot {} while linking a kernel: {}", action, strerror(errno)),
          "check free memory and the limit of open files"};
}

std::string path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(-1); }

  int number() const { return number_; }
  void reset(int number) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

Status write_all(int descriptor, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write to memory");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

std::vector<std::byte> read_to_end(int descriptor) {
  std::vector<std::byte> bytes;
  std::byte piece[16 << 10];
  while (true) {
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.insert(bytes.end(), piece, piece + count);
  }
}

}  // namespace

Result<std::vector<std::byte>> link_shared(std::span<const std::span<const char>> objects) {
  std::vector<std::unique_ptr<Descriptor>> inputs;
  std::vector<std::string> paths;
  std::size_t bytes = 0;
  for (const std::span<const char> object : objects) {
    inputs.push_back(std::make_unique<Descriptor>(memfd_create("kernel.o", MFD_CLOEXEC)));
    if (inputs.back()->number() < 0) return failed("open memory");
    ATTUNE_RETURN_IF_ERROR(write_all(inputs.back()->number(), object));
    paths.push_back(path_of(inputs.back()->number()));
    bytes += object.size();
  }
  // lld replaces ordinary output files, which needs a folder; into a pipe it just writes.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("open a pipe");
  Descriptor reading(ends[0]), writing(ends[1]);
  const std::string to = path_of(writing.number());
  std::vector<const char*> arguments{"ld.lld",
                                     "-shared",
                                     "--no-undefined",
                                     "--hash-style=gnu",
                                     "--gc-sections",
                                     "--threads=1",
                                     "-s",
                                     "-z",
                                     "now",
                                     "-o",
                                     to.c_str()};
  for (const std::string& path : paths) arguments.push_back(path.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // Small results wait in the pipe; for others somebody must read while lld writes.
  const auto capacity = fcntl(writing.number(), F_SETPIPE_SZ, kPipeBytes);
  const bool fits = capacity >= static_cast<int>(bytes) + kLinkerOverhead;
  std::vector<std::byte> linked;
  std::thread reader;
  if (!fits) reader = std::thread([&] { linked = read_to_end(reading.number()); });
  bool done = false;
  {
    // lld keeps its state in globals: one link at a time.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    done = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}}).retCode == 0;
  }
  writing.reset(-1);
  fits ? void(linked = read_to_end(reading.number())) : reader.join();
  if (done) return linked;
  // The lines after the first quote what was linked.
  const std::string why = llvm::StringRef(stream.str()).split('\n').first.str();
  return unsupported("linking a kernel failed: " + why,
                     "leave -mattr and -triple out of the target, or choose others");
}

}  // namespace attune::cpu
