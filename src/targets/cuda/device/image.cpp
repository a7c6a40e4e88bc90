#include "targets/cuda/device/image.h"

#include <cstring>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "targets/cuda/device/architecture.h"

namespace attune::cuda {
namespace {

// An image begins with these bytes, a version and its length in bytes. Numbers are little endian;
// texts and blobs begin with their length.
constexpr std::string_view kMagic = "ATCUDA";
constexpr std::uint16_t kVersion = 2;
constexpr std::uint16_t kWithoutWays = 1;  // as 2, but launches say nothing of waiting

constexpr std::int64_t kMostTextBytes = 1024;
constexpr std::int64_t kMostParameters = 4096, kMostArguments = 512, kMostLaunches = 4096;
constexpr std::int64_t kMostScratchBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostSharedBytes = 256 << 10;
// What CUDA takes, whatever the card.
constexpr std::array<std::int64_t, 3> kMostGrid = {0x7fffffff, 65535, 65535};
constexpr std::array<std::int64_t, 3> kMostBlock = {1024, 1024, 64};
constexpr std::int64_t kMostThreads = 1024;

Error corrupt(const std::string& what) {
  return {ErrorCode::Corrupt, "the code for CUDA devices " + what, "compile the model again"};
}

class Writer {
 public:
  template <typename T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(
          static_cast<std::byte>(static_cast<std::make_unsigned_t<T>>(value) >> 8 * i));
    }
  }
  void raw(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
  }
  void text(const std::string& text) {
    number(static_cast<std::int64_t>(text.size()));
    raw(text);
  }
  void blob(const std::vector<std::byte>& bytes) {
    number(static_cast<std::int64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Overwrites a number that was not known when it was written.
  void length_at(std::size_t position) {
    Writer length;
    length.number(static_cast<std::int64_t>(bytes_.size()));
    std::copy(length.bytes_.begin(), length.bytes_.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads one image; what went wrong first is kept.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::int64_t number() { return static_cast<std::int64_t>(little<std::uint64_t>()); }
  std::uint16_t small_number() { return little<std::uint16_t>(); }
  // From `least` to `most`; otherwise `what` is wrong, and it is `least`.
  std::int64_t number(const std::string& what, std::int64_t least, std::int64_t most) {
    const std::int64_t value = number();
    if (failed_ || (value >= least && value <= most)) return failed_ ? least : value;
    fail("has " + what + " of " + std::to_string(value) + ", it may be " + std::to_string(least) +
         " to " + std::to_string(most));
    return least;
  }
  // How many things of at least so many bytes follow.
  std::int64_t count(const std::string& what, std::int64_t least, std::int64_t most,
                     std::int64_t bytes_each) {
    const std::int64_t value = number(what, least, most);
    if (failed_ || value <= static_cast<std::int64_t>(rest_.size()) / bytes_each) return value;
    fail("ends within its " + what);
    return least;
  }
  std::span<const std::byte> take(std::int64_t bytes) {
    if (bytes > static_cast<std::int64_t>(rest_.size())) {
      fail("ends too early");
      return {};
    }
    const auto taken = rest_.first(static_cast<std::size_t>(bytes));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::string text(const std::string& what, std::int64_t least = 1,
                   std::int64_t most = kMostTextBytes) {
    const auto bytes = take(number("a length of " + what, least, most));
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.find('\0') != std::string::npos) fail("has a zero within " + what);
    return text;
  }
  std::int64_t left() const { return static_cast<std::int64_t>(rest_.size()); }
  bool failed() const { return failed_; }
  void fail(const std::string& what) {
    if (!failed_) what_ = what;
    failed_ = true;
  }
  const std::string& what() const { return what_; }

 private:
  template <typename T>
  T little() {
    const auto bytes = take(sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[i]) << 8 * i));
    }
    return value;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
  std::string what_;
};

void write_launch(const LaunchImage& launch, Writer& writer) {
  writer.text(launch.function);
  for (const std::int64_t extent : launch.grid) writer.number(extent);
  for (const std::int64_t extent : launch.block) writer.number(extent);
  writer.number(launch.shared_bytes);
  writer.number(static_cast<std::int64_t>(launch.arguments.size()));
  for (const Argument& argument : launch.arguments) {
    writer.number(std::int64_t{argument.scratch});
    writer.number(argument.at);
  }
  writer.number(std::int64_t{launch.waits});
  writer.number(launch.way);
}

LaunchImage read_launch(Reader& reader, const KernelImage& kernel, std::uint16_t version) {
  constexpr std::int64_t kArgumentBytes = 16;
  LaunchImage launch;
  launch.function = reader.text("a function's name");
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = reader.number("an extent of a grid", 1, kMostGrid[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    launch.block[i] = reader.number("an extent of a block", 1, kMostBlock[i]);
  }
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > kMostThreads) {
    reader.fail("has blocks of " + std::to_string(threads) + " threads, the most is " +
                std::to_string(kMostThreads));
  }
  launch.shared_bytes = reader.number("a size of shared memory", 0, kMostSharedBytes);
  const std::int64_t arguments =
      reader.count("a number of arguments", 0, kMostArguments, kArgumentBytes);
  for (std::int64_t i = 0; i < arguments && !reader.failed(); ++i) {
    const bool scratch = reader.number("a kind of argument", 0, 1) == 1;
    const std::int64_t room = scratch ? kernel.scratch_bytes : kernel.parameters;
    const std::int64_t at =
        reader.number(scratch ? "a place in scratch memory" : "a parameter", 0, room - 1);
    launch.arguments.push_back({scratch, at});
  }
  if (version == kWithoutWays) return launch;
  launch.waits = reader.number("a word on waiting", 0, 1) == 1;
  const auto most = launch.waits ? static_cast<std::int64_t>(kWays.size()) - 1 : 0;
  launch.way = reader.number("a way of launching", 0, most);
  return launch;
}

KernelImage read_image(Reader& reader, std::uint16_t version) {
  constexpr std::int64_t kLaunchBytes = 9 * 8;
  KernelImage image;
  image.symbol = reader.text("a kernel's name");
  image.architecture = reader.text("an architecture");
  if (!reader.failed() && !parse_architecture(image.architecture)) {
    reader.fail("is for '" + image.architecture + "', which is no architecture");
  }
  image.parameters = reader.number("a number of parameters", 0, kMostParameters);
  image.scratch_bytes = reader.number("a size of scratch memory", 0, kMostScratchBytes);
  const std::int64_t launches =
      reader.count("a number of launches", 1, kMostLaunches, kLaunchBytes);
  for (std::int64_t i = 0; i < launches && !reader.failed(); ++i) {
    image.launches.push_back(read_launch(reader, image, version));
  }
  const auto cubin = reader.take(reader.number("a size of machine code", 0, reader.left()));
  image.cubin.assign(cubin.begin(), cubin.end());
  image.ptx = reader.text("its PTX", 0, reader.left());
  if (!reader.failed() && image.cubin.empty() && image.ptx.empty()) {
    reader.fail("has neither machine code nor PTX");
  }
  if (!reader.failed() && reader.left() > 0) {
    reader.fail("has " + std::to_string(reader.left()) + " bytes behind its end");
  }
  return image;
}

}  // namespace

std::vector<std::byte> write_image(const KernelImage& image) {
  Writer writer;
  writer.raw(kMagic);
  writer.number(kVersion);
  const std::size_t length = writer.size();
  writer.number(std::int64_t{0});
  writer.text(image.symbol);
  writer.text(image.architecture);
  writer.number(image.parameters);
  writer.number(image.scratch_bytes);
  writer.number(static_cast<std::int64_t>(image.launches.size()));
  for (const LaunchImage& launch : image.launches) write_launch(launch, writer);
  writer.blob(image.cubin);
  writer.text(image.ptx);
  writer.length_at(length);
  return std::move(writer).take();
}

Result<std::vector<KernelImage>> read_images(std::span<const std::byte> bytes) {
  constexpr std::int64_t kHeaderBytes = 16;
  std::vector<KernelImage> images;
  std::set<std::string> symbols;
  while (!bytes.empty()) {
    Reader header(bytes);
    const auto magic = header.take(static_cast<std::int64_t>(kMagic.size()));
    if (magic.empty() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
      return corrupt("does not begin as such code does");
    }
    const std::uint16_t version = header.small_number();
    if (!header.failed() && (version < kWithoutWays || version > kVersion)) {
      return corrupt("has the form " + std::to_string(version) + ", this program reads " +
                     std::to_string(kVersion));
    }
    const std::int64_t length =
        header.number("a length", kHeaderBytes, static_cast<std::int64_t>(bytes.size()));
    if (header.failed()) return corrupt(header.what());
    Reader reader(bytes.subspan(kHeaderBytes, static_cast<std::size_t>(length - kHeaderBytes)));
    KernelImage image = read_image(reader, version);
    if (reader.failed()) return corrupt(reader.what());
    if (!symbols.insert(image.symbol).second) {
      return corrupt("has two kernels '" + image.symbol + "'");
    }
    images.push_back(std::move(image));
    bytes = bytes.subspan(static_cast<std::size_t>(length));
  }
  return images;
}

}  // namespace attune::cuda
