#include "tuner/measure/probe/exchange.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
  const Verification& verification = candidate.verification;
  writer.blob(verification.samples.data(), verification.samples.size() * sizeof(Sample));
  writer.value(verification.absolute_tolerance);
  writer.value(verification.relative_tolerance);
  writer.value(candidate.return_outputs);
  writer.value(candidate.best_known_us);
}

CandidateView read_kernel(Reader& reader) {
  CandidateView view;
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

CandidateView read_candidate(Reader& reader) {
  CandidateView view = read_kernel(reader);
  std::shared_ptr<CandidateView> preparation;
  if (reader.value<bool>()) {
    preparation = std::make_shared<CandidateView>(read_kernel(reader));
    view.preparation_id = reader.value<std::uint64_t>();
  }
  view.facts.threads = reader.value<int>();
  view.facts.seed = reader.value<std::uint64_t>();
  Verification& verification = view.facts.verification;
  const std::span<const std::byte> samples = reader.blob();
  verification.samples.resize(samples.size() / sizeof(Sample));
  if (!samples.empty()) std::memcpy(verification.samples.data(), samples.data(), samples.size());
  verification.absolute_tolerance = reader.value<double>();
  verification.relative_tolerance = reader.value<double>();
  view.facts.return_outputs = reader.value<bool>();
  view.facts.best_known_us = reader.value<double>();
  if (preparation) {
    preparation->facts.threads = view.facts.threads;
    preparation->facts.seed = view.facts.seed;
    view.preparation = std::move(preparation);
  }
  return view;
}

std::size_t output_bytes(const Candidate& candidate) {
  std::size_t total = 0;
  if (!candidate.return_outputs) return total;
  for (const Buffer& buffer : candidate.buffers) {
    if (buffer.role != Role::Output) continue;
    total += round_up(static_cast<std::size_t>(buffer.elements) * runtime::byte_size(buffer.type));
  }
  return total;
}

}  // namespace

void Report::fail(ReportState how, outcome::Phase where, std::string_view why) {
  state = how;
  phase = where;
  const std::size_t length = std::min(why.size(), sizeof reason - 1);
  std::memcpy(reason, why.data(), length);
  reason[length] = '\0';
}

outcome::Outcome Report::outcome() const {
  switch (state) {
    case ReportState::Timed:
      return timing;
    case ReportState::BuildFailed:
      return outcome::BuildFailed{phase, reason};
    case ReportState::Crashed:
      return outcome::RunCrashed{phase, signal, reason};
    case ReportState::TimedOut:
      return outcome::TimedOut{phase, limit_ms, reason};
    case ReportState::Wrong:
      return outcome::WrongAnswer{phase, max_error, reason};
    case ReportState::Lost:
      return outcome::InfrastructureLost{phase, reason};
    case ReportState::Pending:
      break;
  }
  return outcome::InfrastructureLost{phase, "the measuring process ended before it was run"};
}

Result<Exchange> Exchange::create(std::span<const Candidate> candidates,
                                  const InterleaveOptions& options, bool interleaved) {
  Writer counter(nullptr);
  std::size_t outputs = 0;
  for (const Candidate& candidate : candidates) {
    write_candidate(counter, candidate);
    outputs += output_bytes(candidate);
  }
  const std::size_t reports_at = round_up(sizeof(ExchangeHeader));
  const std::size_t outputs_at = round_up(reports_at + candidates.size() * sizeof(Report));
  const std::size_t requests_at = outputs_at + outputs;

  Exchange exchange;
  exchange.descriptor_ = memfd_create("attune-measure", MFD_CLOEXEC);
  const std::size_t bytes = requests_at + counter.bytes();
  if (exchange.descriptor_ < 0 || ftruncate(exchange.descriptor_, static_cast<off_t>(bytes)) != 0) {
    return Error{ErrorCode::Exhausted,
                 "cannot create " + std::to_string(bytes) +
                     " bytes of shared memory: " + std::strerror(errno),
                 "free memory on this machine"};
  }
  ATTUNE_RETURN_IF_ERROR(exchange.map(bytes));
  auto* header = new (exchange.base_) ExchangeHeader;
  header->candidate_count = static_cast<std::uint32_t>(candidates.size());
  header->options = options.measure;
  header->rounds = interleaved ? std::max(options.rounds, 1) : 0;
  header->round_gap_ms = options.round_gap_ms;
  header->requests_offset = requests_at;
  header->requests_bytes = counter.bytes();
  Writer writer(exchange.at(requests_at));
  std::uint64_t output_offset = outputs_at;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    auto* report = new (exchange.at(reports_at + i * sizeof(Report))) Report;
    report->outputs_offset = output_offset;
    output_offset += output_bytes(candidates[i]);
    write_candidate(writer, candidates[i]);
  }
  return exchange;
}

Result<Exchange> Exchange::attach(int descriptor) {
  Exchange exchange;
  exchange.descriptor_ = descriptor;
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0) {
    return Error{ErrorCode::Io, "cannot read the size of a measurement", ""};
  }
  ATTUNE_RETURN_IF_ERROR(exchange.map(static_cast<std::size_t>(facts.st_size)));
  return exchange;
}

Status Exchange::map(std::size_t bytes) {
  void* raw = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (raw == MAP_FAILED) {
    return Error{
        ErrorCode::Exhausted,
        "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + std::strerror(errno),
        "free memory on this machine"};
  }
  base_ = static_cast<std::byte*>(raw);
  bytes_ = bytes;
  return {};
}

Exchange::Exchange(Exchange&& other) noexcept { *this = std::move(other); }

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Exchange::~Exchange() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::span<Report> Exchange::reports() const {
  return {reinterpret_cast<Report*>(at(round_up(sizeof(ExchangeHeader)))),
          header().candidate_count};
}

std::vector<CandidateView> Exchange::candidates() const {
  Reader reader(at(header().requests_offset));
  std::vector<CandidateView> views;
  for (std::uint32_t i = 0; i < header().candidate_count; ++i) {
    views.push_back(read_candidate(reader));
  }
  return views;
}

}  // namespace attune::probe
