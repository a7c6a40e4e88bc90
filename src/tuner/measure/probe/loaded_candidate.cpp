#include "tuner/measure/probe/loaded_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace attune::probe {
namespace {

std::size_t bytes_of(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type);
}

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Different page offsets for the arguments of one kernel, as in a model's memory plan.
int stagger_of(std::size_t position) { return static_cast<int>(position * 7 % 16); }

}  // namespace

LoadedCandidate::LoadedCandidate(const KernelMessage& view, BufferStore& store,
                                 std::vector<BufferStore::Slot*> outputs)
    : view_(view), store_(store), outputs_(std::move(outputs)) {}

LoadedCandidate::~LoadedCandidate() {
  for (BufferStore::Slot* slot : slots_) store_.release(slot);
  for (BufferStore::Slot* slot : fresh_) {
    if (slot != nullptr) store_.release(slot);
  }
}

Status LoadedCandidate::load_code(runtime::Device& device) {
  device_ = &device;
  ATTUNE_ASSIGN(code_, device.load(view_.object));
  ATTUNE_ASSIGN(kernel_, code_->kernel(view_.facts.symbol));
  return {};
}

Status LoadedCandidate::acquire(const SlotNeed& need, int number) {
  auto slot = store_.acquire(need, slots_);
  if (!slot.ok()) return slot.error();
  slots_.push_back(*slot);
  watched_.push_back({&(*slot)->memory, number});
  return {};
}

void LoadedCandidate::borrow(BufferStore::Slot* slot, int number) {
  ++slot->users;
  slots_.push_back(slot);
  watched_.push_back({&slot->memory, number});
}

std::vector<BufferStore::Slot*> LoadedCandidate::prepared() const {
  std::vector<BufferStore::Slot*> found;
  for (std::size_t i = 0; i < view_.facts.buffers.size(); ++i) {
    const int output = view_.facts.buffers[i].prepared;
    if (output < 0) continue;
    found.resize(std::max(found.size(), static_cast<std::size_t>(output) + 1));
    found[static_cast<std::size_t>(output)] = slots_[i];
  }
  return found;
}

std::vector<BufferStore::Slot*> LoadedCandidate::unprepared() const {
  std::vector<BufferStore::Slot*> all = prepared();
  if (std::all_of(all.begin(), all.end(), [](const auto* slot) { return slot->reusable; })) {
    return {};
  }
  for (BufferStore::Slot* slot : all) BufferStore::open(*slot);
  return all;
}

void LoadedCandidate::seal_prepared() {
  for (BufferStore::Slot* slot : prepared()) BufferStore::seal(*slot);
}

std::int64_t LoadedCandidate::copies_for(std::int64_t rotate_bytes) const {
  constexpr std::int64_t kMostCopies = 65536;
  std::size_t one_set = 0;
  for (const Buffer& buffer : view_.facts.buffers) {
    if (buffer.rotate) one_set += round_up(bytes_of(buffer));
  }
  if (one_set == 0) return 1;
  const auto set_bytes = static_cast<std::int64_t>(one_set);
  return std::clamp<std::int64_t>((rotate_bytes + set_bytes - 1) / set_bytes, 2, kMostCopies);
}

SlotNeed LoadedCandidate::read_only_need(std::size_t i, std::int64_t copies) const {
  const Buffer& buffer = view_.facts.buffers[i];
  SlotNeed need{.bytes = bytes_of(buffer),
                .stagger = stagger_of(i),
                .copies = buffer.rotate ? copies : 1,
                .read_only = true,
                .contents = view_.contents[i],
                .type = buffer.type,
                .seed = view_.facts.seed,
                .fill_index = buffer.fill_index >= 0 ? buffer.fill_index : static_cast<int>(i)};
  if (buffer.prepared >= 0) {
    need.prepared_by = view_.preparation_id;
    need.fill_index = buffer.prepared;
  }
  return need;
}

Status LoadedCandidate::prepare_buffers(std::int64_t rotate_bytes) {
  const Candidate& facts = view_.facts;
  const std::int64_t copies = copies_for(rotate_bytes);
  std::size_t borrowed = 0;
  for (std::size_t i = 0; i < facts.buffers.size(); ++i) {
    const Buffer& buffer = facts.buffers[i];
    const int number = static_cast<int>(i);
    if (buffer.role == Role::Output && borrowed < outputs_.size()) {
      borrow(outputs_[borrowed++], number);
      continue;
    }
    ATTUNE_RETURN_IF_ERROR(acquire(
        buffer.role == Role::Output ? SlotNeed{.bytes = bytes_of(buffer), .stagger = stagger_of(i)}
                                    : read_only_need(i, copies),
        number));
  }
  if (facts.workspace_bytes > 0) {
    const SlotNeed need{.bytes = static_cast<std::size_t>(facts.workspace_bytes),
                        .stagger = stagger_of(facts.buffers.size())};
    ATTUNE_RETURN_IF_ERROR(acquire(need, kWorkspaceBuffer));
  }
  lay_out_pointers(copies);
  return prepare_fresh_inputs();
}

void LoadedCandidate::lay_out_pointers(std::int64_t copies) {
  const std::vector<Buffer>& buffers = view_.facts.buffers;
  for (std::int64_t k = 0; k < copies; ++k) {
    std::vector<void*> arguments;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      arguments.push_back(slots_[i]->copy(buffers[i].rotate ? k : 0));
    }
    pointers_.push_back(std::move(arguments));
  }
}

Status LoadedCandidate::prepare_fresh_inputs() {
  fresh_.resize(view_.facts.buffers.size());
  if (view_.facts.verification.fresh.empty()) return {};
  for (std::size_t i = 0; i < fresh_.size(); ++i) {
    if (view_.facts.buffers[i].role != Role::Input || !view_.contents[i].empty()) continue;
    SlotNeed need = read_only_need(i, 1);
    need.seed = view_.facts.verification.fresh_seed;
    ATTUNE_ASSIGN(fresh_[i], store_.acquire(need, slots_));
  }
  return {};
}

void LoadedCandidate::take_fresh_inputs() {
  for (std::size_t i = 0; i < fresh_.size(); ++i) {
    if (fresh_[i] == nullptr) continue;
    std::swap(slots_[i], fresh_[i]);
    watched_[i].memory = &slots_[i]->memory;
    for (std::vector<void*>& arguments : pointers_) arguments[i] = slots_[i]->copy(0);
  }
}

bool LoadedCandidate::changed_inputs() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const BufferStore::Slot* slot) {
    return slot->reusable && !BufferStore::is_as_filled(*slot);
  });
}

void LoadedCandidate::poison_outputs() {
  if (!view_.facts.return_outputs && view_.facts.verification.samples.empty()) return;
  for (std::size_t i = 0; i < view_.facts.buffers.size(); ++i) {
    if (view_.facts.buffers[i].role != Role::Output) continue;
    // All bits set: a NaN in every float type, -1 or 255 in the integers.
    std::memset(slots_[i]->memory.data(), 0xff, slots_[i]->memory.bytes());
  }
}

Status LoadedCandidate::call(runtime::ThreadPool& pool, std::int64_t count) {
  const bool has_workspace = slots_.size() > view_.facts.buffers.size();
  ATTUNE_ASSIGN(
      const auto stream,
      device_->open_stream(
          {.pool = &pool, .workspace = has_workspace ? slots_.back()->memory.data() : nullptr}));
  for (std::int64_t i = 0; i < count; ++i) {
    ATTUNE_RETURN_IF_ERROR(stream->launch(kernel_, pointers_[next_]));
    next_ = next_ + 1 < pointers_.size() ? next_ + 1 : 0;
  }
  return stream->wait();
}

std::optional<std::string> LoadedCandidate::bounds_damage() const {
  for (const WatchedBuffer& buffer : watched_) {
    const std::optional<Place> damage = buffer.memory->damage();
    if (!damage) continue;
    const std::string name = buffer.number == kWorkspaceBuffer
                                 ? std::string("the workspace")
                                 : fmt::format("buffer {}", buffer.number);
    return fmt::format("wrote {} of {}",
                       *damage == Place::Before ? "before the start" : "past the end", name);
  }
  return std::nullopt;
}

void LoadedCandidate::read_samples(Answers::When when, std::span<double> values) const {
  const Verification& wanted = view_.facts.verification;
  std::vector<const std::byte*> data;
  for (const BufferStore::Slot* slot : slots_) data.push_back(slot->memory.data());
  probe::read_samples(when == Answers::When::Fresh ? wanted.fresh : wanted.samples,
                      view_.facts.buffers, data, values);
}

void LoadedCandidate::copy_outputs(std::byte* to) const {
  for (std::size_t i = 0; i < view_.facts.buffers.size(); ++i) {
    if (view_.facts.buffers[i].role != Role::Output) continue;
    const GuardedBuffer& memory = slots_[i]->memory;
    if (memory.bytes() > 0) std::memcpy(to, memory.data(), memory.bytes());
    to += round_up(memory.bytes());
  }
}

}  // namespace attune::probe
