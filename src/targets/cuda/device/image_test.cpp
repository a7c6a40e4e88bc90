#include "targets/cuda/device/image.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"

namespace attune::cuda {
namespace {

KernelImage sample() {
  KernelImage image{"conv_1", "sm_90a", 3, 4096, {}, {std::byte{1}, std::byte{2}}, "// ptx"};
  image.launches.push_back(
      {"conv_1_a", {132, 2, 1}, {128, 1, 1}, 99 << 10, {{false, 0}, {true, 0}}});
  image.launches.push_back({"conv_1_b", {7, 1, 1}, {32, 4, 2}, 0, {{true, 4095}, {false, 2}}});
  return image;
}

std::string failure(const std::vector<std::byte>& bytes) {
  const auto read = read_images(bytes);
  return read.ok() ? "read" : read.error().message;
}

std::string failure(const KernelImage& image) { return failure(write_image(image)); }

void expect_same(const KernelImage& a, const KernelImage& b) {
  EXPECT_EQ(a.symbol, b.symbol);
  EXPECT_EQ(a.architecture, b.architecture);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.scratch_bytes, b.scratch_bytes);
  EXPECT_EQ(a.cubin, b.cubin);
  EXPECT_EQ(a.ptx, b.ptx);
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (std::size_t i = 0; i < a.launches.size(); ++i) {
    const LaunchImage &x = a.launches[i], &y = b.launches[i];
    EXPECT_EQ(x.function, y.function);
    EXPECT_EQ(x.grid, y.grid);
    EXPECT_EQ(x.block, y.block);
    EXPECT_EQ(x.shared_bytes, y.shared_bytes);
    EXPECT_EQ(x.waits, y.waits);
    EXPECT_EQ(x.way, y.way);
    ASSERT_EQ(x.arguments.size(), y.arguments.size());
    for (std::size_t k = 0; k < x.arguments.size(); ++k) {
      EXPECT_EQ(x.arguments[k].scratch, y.arguments[k].scratch);
      EXPECT_EQ(x.arguments[k].at, y.arguments[k].at);
    }
  }
}

TEST(CudaImage, ReadsWhatItWrites) {
  KernelImage other = sample();
  other.symbol = "conv_2";
  other.ptx.clear();
  other.launches[0].waits = true;
  other.launches[0].way = 4;
  std::vector<std::byte> bytes = write_image(sample());
  const std::vector<std::byte> second = write_image(other);
  bytes.insert(bytes.end(), second.begin(), second.end());
  const auto read = read_images(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  expect_same((*read)[0], sample());
  expect_same((*read)[1], other);
  EXPECT_TRUE(read_images({}).value().empty());
}

// As it was before launches could wait: shorter by two numbers each.
TEST(CudaImage, ReadsTheFormBefore) {
  const KernelImage image = sample();
  std::vector<std::byte> bytes = write_image(image);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::size_t> ends;
  std::size_t from = 0;
  for (const LaunchImage& launch : image.launches) {
    from = text.find(launch.function, from) + launch.function.size() + 8 * (3 + 3 + 1 + 1) +
           16 * launch.arguments.size();
    ends.push_back(from);
  }
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(*end);
    bytes.erase(first, first + 16);
  }
  bytes[6] = std::byte{1};
  const std::size_t length = bytes.size();
  for (std::size_t i = 0; i < 8; ++i) bytes[8 + i] = static_cast<std::byte>(length >> 8 * i);
  const auto read = read_images(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_same(read->front(), image);
}

TEST(CudaImage, SaysWhichNumberIsWrong) {
  const auto changed = [](const auto& change) {
    KernelImage image = sample();
    change(image);
    return failure(image);
  };
  const std::string start = "the code for CUDA devices ";
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].grid[1] = 65536; }),
            start + "has an extent of a grid of 65536, it may be 1 to 65535");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].way = 1; }),
            start + "has a way of launching of 1, it may be 0 to 0");
  EXPECT_EQ(changed([](KernelImage& i) {
              i.launches[0].waits = true;
              i.launches[0].way = 6;
            }),
            start + "has a way of launching of 6, it may be 0 to 5");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].grid[0] = 0; }),
            start + "has an extent of a grid of 0, it may be 1 to 2147483647");
  EXPECT_EQ(changed([](KernelImage& i) {
              i.launches[0].block = {32, 32, 2};
            }),
            start + "has blocks of 2048 threads, the most is 1024");
  EXPECT_EQ(changed([](KernelImage& i) {
              i.launches[0].block = {1, 1, 65};
            }),
            start + "has an extent of a block of 65, it may be 1 to 64");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].shared_bytes = 1 << 20; }),
            start + "has a size of shared memory of 1048576, it may be 0 to 262144");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].arguments[0].at = 3; }),
            start + "has a parameter of 3, it may be 0 to 2");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].arguments[1].at = 4096; }),
            start + "has a place in scratch memory of 4096, it may be 0 to 4095");
  EXPECT_EQ(changed([](KernelImage& i) { i.scratch_bytes = -1; }),
            start + "has a size of scratch memory of -1, it may be 0 to 1099511627776");
  EXPECT_EQ(changed([](KernelImage& i) { i.parameters = 5000; }),
            start + "has a number of parameters of 5000, it may be 0 to 4096");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches.clear(); }),
            start + "has a number of launches of 0, it may be 1 to 4096");
  EXPECT_EQ(changed([](KernelImage& i) { i.architecture = "gfx90a"; }),
            start + "is for 'gfx90a', which is no architecture");
  EXPECT_EQ(changed([](KernelImage& i) { i.symbol.clear(); }),
            start + "has a length of a kernel's name of 0, it may be 1 to 1024");
  EXPECT_EQ(changed([](KernelImage& i) { i.launches[0].function = std::string("a\0b", 3); }),
            start + "has a zero within a function's name");
  EXPECT_EQ(changed([](KernelImage& i) {
              i.cubin.clear();
              i.ptx.clear();
            }),
            start + "has neither machine code nor PTX");
}

TEST(CudaImage, SaysWhatIsWrongWithTheWhole) {
  const std::string start = "the code for CUDA devices ";
  const std::vector<std::byte> whole = write_image(sample());
  std::vector<std::byte> bytes = whole;
  bytes[0] = std::byte{'X'};
  EXPECT_EQ(failure(bytes), start + "does not begin as such code does");
  bytes = whole;
  bytes[6] = std::byte{9};
  EXPECT_EQ(failure(bytes), start + "has the form 9, this program reads 2");
  bytes = whole;
  bytes.insert(bytes.end(), whole.begin(), whole.end());
  EXPECT_EQ(failure(bytes), start + "has two kernels 'conv_1'");
  bytes = whole;
  bytes.push_back(std::byte{0});
  EXPECT_EQ(failure(bytes), start + "does not begin as such code does");
  bytes[8] = static_cast<std::byte>(static_cast<int>(bytes[8]) + 1);
  EXPECT_EQ(failure(bytes), start + "has 1 bytes behind its end");
}

// Whatever is cut off or changed: an error or an image within its limits, never a crash.
TEST(CudaImage, BearsCutAndChangedBytes) {
  const std::vector<std::byte> whole = write_image(sample());
  for (std::size_t length = 1; length < whole.size(); ++length) {
    EXPECT_FALSE(read_images(std::span(whole).first(length)).ok()) << length;
  }
  Rng rng(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = whole;
    const int changes = 1 + static_cast<int>(rng.below(3));
    for (int i = 0; i < changes; ++i) {
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    const auto read = read_images(bytes);
    if (!read.ok()) continue;
    for (const KernelImage& image : *read) {
      for (const LaunchImage& launch : image.launches) {
        EXPECT_LE(launch.block[0] * launch.block[1] * launch.block[2], 1024);
        for (const Argument& argument : launch.arguments) {
          EXPECT_GE(argument.at, 0);
          EXPECT_LT(argument.at, argument.scratch ? image.scratch_bytes : image.parameters);
        }
      }
    }
  }
}

// Lengths of all sizes, at every place where a number can stand.
TEST(CudaImage, BearsNumbersOfAllSizes) {
  const std::vector<std::byte> whole = write_image(sample());
  for (std::size_t at = 8; at + 8 <= whole.size(); ++at) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 40, std::uint64_t{1} << 63,
          ~std::uint64_t{0}, std::uint64_t{whole.size()}}) {
      std::vector<std::byte> bytes = whole;
      std::memcpy(bytes.data() + at, &value, sizeof value);
      (void)read_images(bytes).ok();
    }
  }
}

}  // namespace
}  // namespace attune::cuda
