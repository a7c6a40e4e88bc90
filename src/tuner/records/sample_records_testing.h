// Records and places for the tests of this library.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/temporary_directory_testing.h"
#include "tuner/records/record_json.h"
#include "tuner/records/store.h"

namespace attune::records {

inline constexpr const char* kTask = "00c0ffee00c0ffee";
inline constexpr const char* kTarget = "cpu -mcpu=znver3 -threads=2";

inline outcome::Outcome timing(double best_us) {
  return outcome::Timing{.best_us = best_us,
                         .median_us = best_us * 1.25,
                         .cv = 0.125,
                         .repeats = 3,
                         .calls_per_repeat = 40,
                         .verified = true,
                         .max_error = 1e-5};
}

// A verified record with a trace of its own for each number.
inline Record sample_record(std::int64_t number, outcome::Outcome outcome) {
  Record r;
  r.task_key = kTask;
  r.task_name = "matmul:m=64,n=64,k=64";
  r.target = kTarget;
  r.trace = "split anchor.i " + std::to_string(number + 1) + "\nvectorize anchor.j\n";
  r.trace_hash = hash_bytes(r.trace);
  r.outcome = std::move(outcome);
  r.stages = {12.5, 3.25, 0.5};
  r.product_version = "0.1.0";
  r.device = "AMD EPYC";
  r.noise = {0.125, -0.0625};
  r.seed = 0xfedcba9876543210ull;
  r.number = number;
  r.verified = true;
  r.created_at_ms = 1700000000000 + number;
  return r;
}

// Everything but the id and the session, as one text.
inline std::string content(const Record& record) { return record_to_json_line(record); }

inline SessionSpec sample_spec() {
  return {kTask, "matmul:m=64,n=64,k=64", kTarget, R"({"trials":128})", "sa", 7, 1700000000000};
}

inline SessionCandidate sample_candidate(std::int64_t number) {
  const Record r = sample_record(number, timing(1));
  return {number, r.trace, r.trace_hash, 10.0 + static_cast<double>(number)};
}

inline std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_content(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

using test::TemporaryDirectory;

}  // namespace attune::records
