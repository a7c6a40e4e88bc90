#include "tuner/measure/device_runner/wanted.h"

namespace attune::device_runner {
namespace {

void append_code(Bytes& bytes, const measure::KernelCode& code) {
  append_value(bytes, code.object->size());
  const char* first = reinterpret_cast<const char*>(code.object->data());
  bytes.insert(bytes.end(), first, first + code.object->size());
  append_text(bytes, code.symbol);
  append_value(bytes, code.id);
  append_value(bytes, code.parameters.size());
  for (const kernel::Parameter& parameter : code.parameters) {
    append_value(bytes, parameter.kind);
    append_value(bytes, parameter.index);
    append_value(bytes, parameter.type);
    append_value(bytes, parameter.elements);
  }
}

measure::KernelCode code_from(AnswerReader& reader) {
  measure::KernelCode code;
  const std::span<const char> raw = reader.take(reader.count(1));
  const auto* first = reinterpret_cast<const std::byte*>(raw.data());
  code.object = std::make_shared<const std::vector<std::byte>>(first, first + raw.size());
  code.symbol = reader.text();
  code.id = reader.value<std::uint64_t>();
  code.parameters.resize(reader.count(sizeof(std::int64_t)));
  for (kernel::Parameter& parameter : code.parameters) {
    parameter.kind = reader.value<kernel::ParameterKind>();
    parameter.index = reader.value<int>();
    parameter.type = reader.value<runtime::DType>();
    parameter.elements = reader.value<std::int64_t>();
  }
  return code;
}

void append_places(Bytes& bytes, const std::vector<Place>& places) {
  append_value(bytes, places.size());
  for (const Place& place : places) {
    append_value(bytes, place.output);
    append_value(bytes, place.index);
  }
}

std::vector<Place> places_from(AnswerReader& reader) {
  std::vector<Place> places(reader.count(sizeof(std::int64_t)));
  for (Place& place : places) {
    place.output = reader.value<int>();
    place.index = reader.value<std::int64_t>();
  }
  return places;
}

}  // namespace

Bytes numbered(std::uint64_t id, const Bytes& more) {
  Bytes bytes;
  bytes.reserve(sizeof id + more.size());
  append_value(bytes, id);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

Bytes to_bytes(std::int64_t calls) {
  const char* first = reinterpret_cast<const char*>(&calls);
  return {first, first + sizeof calls};
}

void append_values(Bytes& bytes, const std::vector<double>& values) {
  append_value(bytes, values.size());
  for (const double value : values) append_value(bytes, value);
}

std::vector<double> values_from(AnswerReader& reader) {
  std::vector<double> values(reader.count(sizeof(double)));
  for (double& value : values) value = reader.value<double>();
  return values;
}

Bytes to_bytes(const Wanted& wanted) {
  Bytes bytes;
  append_code(bytes, wanted.main);
  append_value(bytes, wanted.prepare.has_value());
  if (wanted.prepare) append_code(bytes, *wanted.prepare);
  append_value(bytes, wanted.seed);
  append_value(bytes, wanted.fresh_seed);
  append_places(bytes, wanted.samples);
  append_places(bytes, wanted.fresh);
  append_value(bytes, wanted.cold);
  append_value(bytes, wanted.rotate_bytes);
  return bytes;
}

Result<Wanted> wanted_from(AnswerReader& reader) {
  Wanted wanted;
  wanted.main = code_from(reader);
  if (reader.value<bool>()) wanted.prepare = code_from(reader);
  wanted.seed = reader.value<std::uint64_t>();
  wanted.fresh_seed = reader.value<std::uint64_t>();
  wanted.samples = places_from(reader);
  wanted.fresh = places_from(reader);
  wanted.cold = reader.value<bool>();
  wanted.rotate_bytes = reader.value<std::int64_t>();
  ATTUNE_RETURN_IF_ERROR(reader.status());
  return wanted;
}

Bytes to_bytes(const probe::MeasureOptions& options, double best_known_us) {
  Bytes bytes;
  append_value(bytes, options.repeat_us);
  append_value(bytes, options.budget_us);
  append_value(bytes, options.min_repeats);
  append_value(bytes, options.cut_ratio);
  append_value(bytes, options.timeout_ms);
  append_value(bytes, best_known_us);
  return bytes;
}

HowToTime how_to_time_from(AnswerReader& reader) {
  HowToTime how;
  how.options.repeat_us = reader.value<double>();
  how.options.budget_us = reader.value<double>();
  how.options.min_repeats = reader.value<int>();
  how.options.cut_ratio = reader.value<double>();
  how.options.timeout_ms = reader.value<double>();
  how.best_known_us = reader.value<double>();
  return how;
}

void append_timing(Bytes& bytes, const outcome::Timing& timing) {
  append_value(bytes, timing.best_us);
  append_value(bytes, timing.median_us);
  append_value(bytes, timing.cv);
  append_value(bytes, timing.repeats);
  append_value(bytes, timing.calls_per_repeat);
  append_value(bytes, timing.cut_short);
}

outcome::Timing timing_from(AnswerReader& reader) {
  outcome::Timing timing;
  timing.best_us = reader.value<double>();
  timing.median_us = reader.value<double>();
  timing.cv = reader.value<double>();
  timing.repeats = reader.value<int>();
  timing.calls_per_repeat = reader.value<std::int64_t>();
  timing.cut_short = reader.value<bool>();
  return timing;
}

}  // namespace attune::device_runner
