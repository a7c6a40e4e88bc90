#include "tuner/measure/probe/exchange.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace attune::probe {
namespace {

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Appends plain values to a region that is known to be large enough, or only counts the bytes when
// there is none.
class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  std::size_t bytes() const { return bytes_; }

  template <typename T>
  void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&v, sizeof v);
  }
  void blob(const void* data, std::size_t size) {
    value(static_cast<std::uint64_t>(size));
    raw(data, size);
  }

 private:
  void raw(const void* data, std::size_t size) {
    if (at_ != nullptr && size > 0) std::memcpy(at_ + bytes_, data, size);
    bytes_ += size;
  }
  std::byte* at_;
  std::size_t bytes_ = 0;
};

class Reader {
 public:
  explicit Reader(const std::byte* at) : at_(at) {}

  template <typename T>
  T value() {
    T v;
    std::memcpy(&v, at_, sizeof v);
    at_ += sizeof v;
    return v;
  }
  std::span<const std::byte> blob() {
    const auto size = static_cast<std::size_t>(value<std::uint64_t>());
    const std::span<const std::byte> bytes(at_, size);
    at_ += size;
    return bytes;
  }

 private:
  const std::byte* at_;
};

void write_buffer(Writer& writer, const Buffer& buffer) {
  writer.value(buffer.type);
  writer.value(buffer.elements);
  writer.value(buffer.role);
  writer.value(buffer.fill_index);
  writer.value(buffer.rotate);
  writer.value(buffer.prepared);
  const std::span<const std::byte> contents =
      buffer.contents ? std::span<const std::byte>(*buffer.contents) : std::span<const std::byte>();
  writer.blob(contents.data(), contents.size());
}

// What candidates and preparations have in common.
template <typename Kernel>
void write_kernel(Writer& writer, const Kernel& kernel) {
  writer.blob(kernel.object->data(), kernel.object->size());
  writer.blob(kernel.symbol.data(), kernel.symbol.size());
  writer.value(kernel.buffers.size());
  for (const Buffer& buffer : kernel.buffers) write_buffer(writer, buffer);
  writer.value(kernel.workspace_bytes);
}

void write_places(Writer& writer, const std::vector<Sample>& samples) {
  writer.value(samples.size());
  for (const Sample& sample : samples) {
    writer.value(sample.buffer);
    writer.value(sample.index);
  }
}

void write_candidate(Writer& writer, const Candidate& candidate) {
  write_kernel(writer, candidate);
  const Preparation* preparation = candidate.preparation.get();
  writer.value(preparation != nullptr);
  if (preparation != nullptr) {
    write_kernel(writer, *preparation);
    writer.value(preparation->id);
  }
  writer.value(candidate.threads);
  writer.value(candidate.seed);
  // Where to look, and not what is expected there.
  write_places(writer, candidate.verification.samples);
  writer.value(candidate.verification.fresh_seed);
  write_places(writer, candidate.verification.fresh);
  writer.value(candidate.return_outputs);
  writer.value(candidate.best_known_us);
}

KernelMessage read_kernel(Reader& reader) {
  KernelMessage view;
  view.object = reader.blob();
  const std::span<const std::byte> symbol = reader.blob();
  view.facts.symbol.assign(reinterpret_cast<const char*>(symbol.data()), symbol.size());
  view.facts.buffers.resize(reader.value<std::size_t>());
  for (Buffer& buffer : view.facts.buffers) {
    buffer.type = reader.value<runtime::DType>();
    buffer.elements = reader.value<std::int64_t>();
    buffer.role = reader.value<Role>();
    buffer.fill_index = reader.value<int>();
    buffer.rotate = reader.value<bool>();
    buffer.prepared = reader.value<int>();
    view.contents.push_back(reader.blob());
  }
  view.facts.workspace_bytes = reader.value<std::int64_t>();
  return view;
}

std::vector<Sample> read_places(Reader& reader) {
  std::vector<Sample> samples(reader.value<std::size_t>());
  for (Sample& sample : samples) {
    sample.buffer = reader.value<int>();
    sample.index = reader.value<std::int64_t>();
  }
  return samples;
}

KernelMessage read_candidate(Reader& reader) {
  KernelMessage view = read_kernel(reader);
  std::shared_ptr<KernelMessage> preparation;
  if (reader.value<bool>()) {
    preparation = std::make_shared<KernelMessage>(read_kernel(reader));
    view.preparation_id = reader.value<std::uint64_t>();
  }
  view.facts.threads = reader.value<int>();
  view.facts.seed = reader.value<std::uint64_t>();
  view.facts.verification.samples = read_places(reader);
  view.facts.verification.fresh_seed = reader.value<std::uint64_t>();
  view.facts.verification.fresh = read_places(reader);
  view.facts.return_outputs = reader.value<bool>();
  view.facts.best_known_us = reader.value<double>();
  if (preparation) {
    preparation->facts.threads = view.facts.threads;
    preparation->facts.seed = view.facts.seed;
    view.preparation = std::move(preparation);
  }
  return view;
}

std::size_t bytes_of(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type);
}

std::size_t output_bytes(const Candidate& candidate) {
  std::size_t total = 0;
  if (!candidate.return_outputs) return total;
  for (const Buffer& buffer : candidate.buffers) {
    if (buffer.role == Role::Output) total += round_up(bytes_of(buffer));
  }
  return total;
}

// An upper bound of what is mapped for a candidate and its preparation.
std::size_t buffer_bytes(const Candidate& candidate, const MeasureOptions& options) {
  constexpr std::size_t kGuards = std::size_t{4} << 20;  // pages around, alignment of large ones
  // More workspace than the limit is refused.
  const auto workspace = [&](std::int64_t bytes) {
    return static_cast<std::size_t>(std::min(bytes, options.memory_limit_bytes));
  };
  std::size_t total = workspace(candidate.workspace_bytes) + kGuards;
  const auto add = [&](const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) {
      total += 2 * bytes_of(buffer) + kGuards;
      if (buffer.role == Role::Input) total += bytes_of(buffer) + kGuards;  // fresh ones
      if (buffer.rotate) total += static_cast<std::size_t>(options.rotate_bytes) + bytes_of(buffer);
    }
  };
  add(candidate.buffers);
  if (candidate.preparation == nullptr) return total;
  add(candidate.preparation->buffers);
  return total + workspace(candidate.preparation->workspace_bytes);
}

constexpr std::size_t kReportsOffset = round_up(sizeof(Answers::Header));
constexpr std::size_t kPlacesOffset = round_up(sizeof(RequestHeader));

// Where the answers about each candidate stand; the last number is the size of it all.
std::size_t lay_out(std::span<const Candidate> candidates, const MeasureOptions& options,
                    std::vector<AnswerPlace>& places) {
  std::size_t at = round_up(kReportsOffset + candidates.size() * sizeof(Report));
  for (const Candidate& candidate : candidates) {
    AnswerPlace place;
    place.samples = candidate.verification.samples.size();
    place.values_offset = at;
    place.fresh_samples = candidate.verification.fresh.size();
    at += round_up((2 * place.samples + place.fresh_samples) * sizeof(double));
    place.outputs_offset = at;
    place.output_bytes = output_bytes(candidate);
    at += place.output_bytes;
    place.buffer_bytes = buffer_bytes(candidate, options);
    place.threads = candidate.threads;
    places.push_back(place);
  }
  return at;
}

Result<SharedRegion> write_requests(std::span<const Candidate> candidates,
                                    const InterleaveOptions& options, bool interleaved,
                                    const std::vector<AnswerPlace>& places) {
  Writer counter(nullptr);
  for (const Candidate& candidate : candidates) write_candidate(counter, candidate);
  const std::size_t places_bytes = places.size() * sizeof(AnswerPlace);
  const RequestHeader header{
      .candidate_count = static_cast<std::uint32_t>(candidates.size()),
      .options = options.measure,
      .rounds = interleaved ? std::max(options.rounds, 1) : 0,
      .round_gap_ms = options.round_gap_ms,
      .candidates_offset = round_up(kPlacesOffset + places_bytes),
  };
  ATTUNE_ASSIGN(SharedRegion region,
                SharedRegion::create("attune-requests", header.candidates_offset + counter.bytes(),
                                     SharedRegion::Use::ReadOnlySoon));
  std::memcpy(region.data(), &header, sizeof header);
  if (places_bytes > 0) std::memcpy(region.data() + kPlacesOffset, places.data(), places_bytes);
  Writer writer(region.data() + header.candidates_offset);
  for (const Candidate& candidate : candidates) write_candidate(writer, candidate);
  ATTUNE_RETURN_IF_ERROR(region.make_read_only());
  return region;
}

}  // namespace

Report& Answers::report(std::size_t k) const {
  CHECK(k < places_.size(), "a candidate of the exchange");
  return reinterpret_cast<Report*>(region_.data() + kReportsOffset)[k];
}

std::span<double> Answers::values(std::size_t k, When when) const {
  const AnswerPlace& place = places_[k];
  auto* first = reinterpret_cast<double*>(region_.data() + place.values_offset);
  if (when == When::Fresh) return {first + 2 * place.samples, place.fresh_samples};
  return {first + (when == When::First ? 0 : place.samples), place.samples};
}

std::span<std::byte> Answers::outputs(std::size_t k) const {
  return {region_.data() + places_[k].outputs_offset, places_[k].output_bytes};
}

Result<Exchange> Exchange::create(std::span<const Candidate> candidates,
                                  const InterleaveOptions& options, bool interleaved) {
  std::vector<AnswerPlace> places;
  const std::size_t answers_bytes = lay_out(candidates, options.measure, places);
  ATTUNE_ASSIGN(SharedRegion requests, write_requests(candidates, options, interleaved, places));
  Exchange exchange(std::move(requests));
  for (const char* name : {"attune-replies", "attune-verdicts"}) {
    ATTUNE_ASSIGN(SharedRegion region,
                  SharedRegion::create(name, answers_bytes, SharedRegion::Use::Written));
    new (region.data()) Answers::Header;
    exchange.replies_.emplace_back(std::move(region), exchange.places());
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      new (&exchange.replies_.back().report(k)) Report;
    }
  }
  return exchange;
}

Result<Exchange> Exchange::attach(Descriptor requests, Descriptor replies, Descriptor verdicts) {
  ATTUNE_ASSIGN(SharedRegion read, SharedRegion::attach(std::move(requests), false));
  Exchange exchange(std::move(read));
  for (Descriptor* each : {&replies, &verdicts}) {
    if (!each->is_open()) continue;
    ATTUNE_ASSIGN(SharedRegion region, SharedRegion::attach(std::move(*each), true));
    exchange.replies_.emplace_back(std::move(region), exchange.places());
  }
  return exchange;
}

std::vector<int> Exchange::descriptors(bool with_verdicts) const {
  std::vector<int> all = {requests_.descriptor(), replies().descriptor()};
  if (with_verdicts) all.push_back(verdicts().descriptor());
  return all;
}

void Exchange::close_descriptors() {
  requests_.close_descriptor();
  for (Answers& answers : replies_) answers.close_descriptor();
}

std::span<const AnswerPlace> Exchange::places() const {
  return {reinterpret_cast<const AnswerPlace*>(requests_.data() + kPlacesOffset), size()};
}

std::vector<KernelMessage> Exchange::candidates() const {
  Reader reader(requests_.data() + header().candidates_offset);
  std::vector<KernelMessage> views;
  for (std::size_t i = 0; i < size(); ++i) views.push_back(read_candidate(reader));
  return views;
}

}  // namespace attune::probe
