#include "tensor_files/npz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cstring>

#include "tensor_files/npy.h"

namespace attune::tensor_files {
namespace {

using runtime::Tensor;

// In so many bytes, the lowest first; what is beyond the number is zero.
void put(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (; size > 0; --size, value >>= 8) bytes += static_cast<char>(value);
}

std::string deflated(const std::string& plain) {
  std::string packed(plain.size() + 100, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// A ZIP archive with one member, as numpy.savez (method 0) or savez_compressed (8) write it.
std::string archive(const std::string& name, const std::string& plain, int method) {
  const std::string packed = method == 8 ? deflated(plain) : plain;
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  std::string bytes;
  const auto facts = [&] {
    put(bytes, static_cast<std::uint64_t>(method), 2);
    put(bytes, 0, 4);  // time and date
    put(bytes, checksum, 4);
    put(bytes, packed.size(), 4);
    put(bytes, plain.size(), 4);
    put(bytes, name.size(), 2);
  };
  put(bytes, 0x04034b50, 4);
  put(bytes, 20, 2);
  put(bytes, 0, 2);
  facts();
  put(bytes, 4, 2);  // extra data of the member alone
  bytes += name + "xxxx" + packed;
  const std::size_t directory = bytes.size();
  put(bytes, 0x02014b50, 4);
  put(bytes, 20, 2);
  put(bytes, 20, 2);
  put(bytes, 0, 2);
  facts();
  put(bytes, 0, 2 + 2 + 2 + 2 + 4 + 4);  // extra, comment, disk, attributes, offset
  bytes += name;
  const std::size_t size = bytes.size() - directory;
  put(bytes, 0x06054b50, 4);
  put(bytes, 0, 4);
  put(bytes, 1, 2);
  put(bytes, 1, 2);
  put(bytes, size, 4);
  put(bytes, directory, 4);
  put(bytes, 0, 2);
  return bytes;
}

Tensor numbers() {
  Tensor tensor = Tensor::allocate(runtime::DType::F32, {4, 100}).value();
  for (std::size_t i = 0; i < 400; ++i) tensor.as<float>()[i] = static_cast<float>(i % 7);
  return tensor;
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const Tensor tensor = numbers();
  for (const int method : {0, 8}) {
    const auto members = parse_npz(archive("x:0.npy", npy_bytes(tensor), method), "x.npz");
    ASSERT_TRUE(members.ok()) << members.error().message;
    ASSERT_EQ(members->size(), 1u);
    EXPECT_EQ(members->front().name, "x:0");
    ASSERT_EQ(members->front().tensor.bytes(), tensor.bytes());
    EXPECT_EQ(std::memcmp(members->front().tensor.data(), tensor.data(), tensor.bytes()), 0);
  }
}

TEST(Npz, RefusesOtherFiles) {
  const auto members = parse_npz("hello", "x.npz");
  ASSERT_FALSE(members.ok());
  EXPECT_EQ(members.error().message, "'x.npz' is not a .npz file: it has no directory");
  const auto method = parse_npz(archive("x.npy", "abc", 12), "x.npz");
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(method.error().message, "'x.npz' compresses 'x.npy' by method 12, which is not known");
}

// The largest memory that this process ever had.
std::int64_t most_kilobytes() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Npz, TakesNoMemoryForWhatASmallFileOnlyClaims) {
  std::string bytes = archive("x.npy", "abc", 8);
  const std::size_t entry = bytes.find("PK\x01\x02");
  for (std::size_t i = 0; i < 4; ++i) bytes[entry + 24 + i] = i < 3 ? '\xff' : '\x7f';
  ASSERT_LT(bytes.size(), 130u);
  const std::int64_t before = most_kilobytes();
  const auto members = parse_npz(bytes, "x.npz");
  ASSERT_FALSE(members.ok());
  EXPECT_EQ(members.error().message, "'x.npz' is not a .npz file: its member 'x.npy' is damaged");
  EXPECT_LT(most_kilobytes() - before, 100 << 10);
}

TEST(Npz, RefusesMembersThatShareTheirBytes) {
  std::string bytes = archive("x.npy", npy_bytes(numbers()), 0);
  const std::size_t entry = bytes.find("PK\x01\x02"), end = bytes.find("PK\x05\x06");
  const std::string again = bytes.substr(entry, end - entry);
  bytes[end + 10] = 3;
  for (int i = 0; i < 2; ++i) bytes.insert(end, again);
  EXPECT_EQ(parse_npz(bytes, "x.npz").error().message,
            "'x.npz' is not a .npz file: its members overlap");
}

// Whatever is cut off or flipped, it is an error or reads as the same tensor; it never crashes.
TEST(Npz, SurvivesDamage) {
  const Tensor tensor = numbers();
  for (const int method : {0, 8}) {
    const std::string whole = archive("x.npy", npy_bytes(tensor), method);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      EXPECT_FALSE(parse_npz(whole.substr(0, size), "x.npz").ok()) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
      const auto members = parse_npz(damaged, "x.npz");
      if (!members.ok() || members->empty()) continue;
      EXPECT_EQ(std::memcmp(members->front().tensor.data(), tensor.data(), tensor.bytes()), 0);
    }
  }
}

}  // namespace
}  // namespace attune::tensor_files
