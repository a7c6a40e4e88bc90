#include "targets/cuda/device/pool.h"

#include <cstring>

namespace attune::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
// A free block is taken for a smaller one unless it would leave more than so large a part unused.
constexpr std::size_t kUnusedParts = 4;

std::size_t rounded(std::size_t bytes) {
  return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Block final : public runtime::DeviceMemory {
 public:
  Block(std::shared_ptr<Pool> pool, const PoolBlock& block)
      : pool_(std::move(pool)), block_(block) {}
  ~Block() override { pool_->give_back(block_); }
  std::byte* address() const override { return reinterpret_cast<std::byte*>(block_.address); }

 private:
  const std::shared_ptr<Pool> pool_;
  const PoolBlock block_;
};

class HostBlock final : public runtime::DeviceMemory {
 public:
  HostBlock(std::shared_ptr<const Context> context, void* address)
      : context_(std::move(context)), address_(address) {}
  ~HostBlock() override {
    if (!context_->enter().ok()) return;
    const auto alone = context_->alone();
    (void)context_->driver().host_free.function(address_);
  }
  std::byte* address() const override { return static_cast<std::byte*>(address_); }

 private:
  const std::shared_ptr<const Context> context_;
  void* const address_;
};

}  // namespace

Result<std::shared_ptr<Pool>> Pool::open(std::shared_ptr<const Context> context) {
  const Driver& call = context->driver();
  ATTUNE_RETURN_IF_ERROR(context->enter());
  CuStream stream = nullptr;
  ATTUNE_RETURN_IF_ERROR(call("making a stream", call.stream_create, &stream, kStreamNonBlocking));
  return std::shared_ptr<Pool>(new Pool(std::move(context), stream));
}

Pool::~Pool() {
  if (!context_->enter().ok()) return;
  const auto alone = context_->alone();
  free_all();
  (void)context_->driver().stream_destroy.function(stream_);
}

Result<std::unique_ptr<runtime::DeviceMemory>> Pool::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  ATTUNE_RETURN_IF_ERROR(context_->enter());
  ATTUNE_ASSIGN(const PoolBlock block, take(rounded(bytes)));
  if (const Status cleared = clear(block); !cleared.ok()) {
    (void)context_->driver().memory_free.function(block.address);
    return cleared.error();
  }
  return std::unique_ptr<runtime::DeviceMemory>(new Block(shared_from_this(), block));
}

Result<PoolBlock> Pool::take(std::size_t bytes) {
  const auto kept = free_.lower_bound(bytes);
  if (kept != free_.end() && kept->first - bytes <= bytes / kUnusedParts) {
    const PoolBlock block{kept->second, kept->first};
    free_.erase(kept);
    return block;
  }
  const Driver& call = context_->driver();
  const auto alone = context_->alone();
  PoolBlock block{0, bytes};
  CuResult result = call.memory_allocate.function(&block.address, bytes);
  if (result == kOutOfMemory && !free_.empty()) {
    free_all();
    result = call.memory_allocate.function(&block.address, bytes);
  }
  if (result == kSuccess) return block;
  std::string doing = "allocating " + std::to_string(bytes) + " bytes on " + context_->card().name;
  std::size_t free = 0, total = 0;
  if (call.memory_info.function(&free, &total) == kSuccess) {
    doing += ", where " + std::to_string(free) + " of " + std::to_string(total) + " are free";
  }
  return call.error_of(call.memory_allocate.symbol, result, doing);
}

Status Pool::clear(const PoolBlock& block) {
  constexpr std::string_view kClearing = "clearing memory of the card";
  const Driver& call = context_->driver();
  ATTUNE_RETURN_IF_ERROR(call(kClearing, call.memory_set, block.address,
                              static_cast<unsigned char>(0), block.bytes, stream_));
  return call(kClearing, call.stream_wait, stream_);
}

void Pool::give_back(const PoolBlock& block) {
  const std::lock_guard lock(mutex_);
  free_.emplace(block.bytes, block.address);
}

void Pool::free_all() {
  for (const auto& [bytes, address] : free_) (void)context_->driver().memory_free.function(address);
  free_.clear();
}

Result<std::unique_ptr<runtime::DeviceMemory>> Pool::allocate_host(std::size_t bytes) {
  const Driver& call = context_->driver();
  ATTUNE_RETURN_IF_ERROR(context_->enter());
  void* address = nullptr;
  const std::size_t size = rounded(bytes);
  const auto alone = context_->alone();
  const CuResult result = call.host_allocate.function(&address, size, kHostPortable | kHostMapped);
  if (result != kSuccess) {
    return call.error_of(call.host_allocate.symbol, result,
                         "allocating " + std::to_string(size) + " bytes of the host for copies");
  }
  std::memset(address, 0, size);
  return std::unique_ptr<runtime::DeviceMemory>(new HostBlock(context_, address));
}

}  // namespace attune::cuda
