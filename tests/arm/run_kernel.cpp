// Runs one kernel of a shared object on buffers from a file, with the runtime's own loader and
// thread pool, and writes the buffers back. Tests start it under an emulator; see
// tests/support/emulated.h.
//
//   run_kernel OBJECT SYMBOL WORKSPACE_BYTES THREADS BUFFERS
//
// BUFFERS holds, for each buffer, its size as eight bytes and then its contents.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/memory/memory.h"
#include "targets/cpu/device/kernel_module.h"

namespace {

using attune::runtime::Memory;

std::vector<std::byte> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> result(bytes.size());
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

struct Buffers {
  std::vector<Memory> blocks;
  std::vector<std::int64_t> sizes;
  std::vector<void*> pointers;
};

attune::Result<Buffers> read_buffers(const char* path) {
  const std::vector<std::byte> bytes = read_file(path);
  Buffers buffers;
  for (std::size_t at = 0; at < bytes.size();) {
    std::int64_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    ATTUNE_ASSIGN(Memory block, Memory::allocate(static_cast<std::size_t>(size)));
    std::memcpy(block.data(), bytes.data() + at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
    buffers.sizes.push_back(size);
    buffers.pointers.push_back(block.data());
    buffers.blocks.push_back(std::move(block));
  }
  return buffers;
}

void write_buffers(const Buffers& buffers, const char* path) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < buffers.sizes.size(); ++i) {
    file.write(reinterpret_cast<const char*>(&buffers.sizes[i]), sizeof buffers.sizes[i]);
    file.write(static_cast<const char*>(buffers.pointers[i]), buffers.sizes[i]);
  }
}

attune::Status run(char** argv) {
  const std::vector<std::byte> object = read_file(argv[1]);
  ATTUNE_ASSIGN(const auto module, attune::cpu::KernelModule::load(object));
  ATTUNE_ASSIGN(const AttuneKernel kernel, module.kernel(argv[2]));
  ATTUNE_ASSIGN(const Memory workspace,
                Memory::allocate(static_cast<std::size_t>(std::atoll(argv[3]))));
  ATTUNE_ASSIGN(const Buffers buffers, read_buffers(argv[5]));
  attune::runtime::ThreadPool pool({.workers = std::atoi(argv[4])});
  ATTUNE_RETURN_IF_ERROR(attune::cpu::run_kernel(kernel, pool, workspace.data(), buffers.pointers));
  write_buffers(buffers, argv[5]);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: run_kernel OBJECT SYMBOL WORKSPACE_BYTES THREADS BUFFERS\n");
    return 2;
  }
  const attune::Status status = run(argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return 1;
}
