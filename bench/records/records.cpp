// What the records cost a tuning run: storing a round of 64 results for good, finding the best and
// the known traces, and listing, in a file that already holds many records.
//
// usage: bench_records DIRECTORY [RECORDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "tuner/records/store.h"

namespace {

using namespace attune::records;
using SteadyTime = std::chrono::steady_clock;

constexpr int kRound = 64;

Record make_record(std::int64_t number) {
  Record r;
  r.task_key = "00c0ffee00c0ffe" + std::to_string(number % 10);
  r.task_name = "matmul:m=1024,n=1024,k=1024";
  r.target = "cpu -triple=x86_64-linux-gnu -mcpu=znver3 -threads=2";
  for (int step = 0; step < 16; ++step) {
    r.trace += "split anchor.i " + std::to_string(number * 16 + step) + " 8 64 4\n";
  }
  r.trace_hash = attune::hash_bytes(r.trace);
  r.outcome = attune::outcome::Timing{.best_us = 100.0 + static_cast<double>(number * 7919 % 9973)};
  r.product_version = "0.1.0";
  r.device = "AMD EPYC";
  r.verified = number % 50 == 0;
  r.number = number;
  return r;
}

template <typename T>
T need(attune::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "bench_records: %s\n", result.error().message.c_str());
  std::exit(1);
}

constexpr int kRepeats = 100;

void time_it(const char* name, const std::function<void(int)>& body) {
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = SteadyTime::now();
    body(repeat);
    times.push_back(std::chrono::duration<double, std::milli>(SteadyTime::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("  %-28s median %8.3f ms   p99 %8.3f ms\n", name, times[kRepeats / 2],
              times[kRepeats * 99 / 100 - 1]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_records DIRECTORY [RECORDS]\n");
    return 2;
  }
  const std::string path = std::string(argv[1]) + "/bench_records.db";
  const std::int64_t records = argc > 2 ? std::atoll(argv[2]) : 20000;
  auto store = need(open_sqlite_store(path));
  std::vector<Record> batch;
  for (std::int64_t i = 0; i < records; ++i) {
    batch.push_back(make_record(i));
    if (batch.size() < 1024 && i + 1 < records) continue;
    need(store->add(batch));
    batch.clear();
  }
  const Record any = make_record(0);
  std::printf("records file with %lld records, %.1f MB\n", static_cast<long long>(records),
              static_cast<double>(std::filesystem::file_size(path)) * 1e-6);
  const SessionId session =
      need(store->create_session({any.task_key, any.task_name, any.target, {}, {}}));
  std::vector<std::vector<Record>> rounds(kRepeats);
  time_it("select 64 candidates", [&](int repeat) {
    std::vector<SessionCandidate> candidates;
    for (int i = 0; i < kRound; ++i) {
      const std::int64_t number = repeat * kRound + i;
      Record r = make_record(records + number);
      candidates.push_back({number, r.trace, r.trace_hash, 1.0});
      r.number = number;
      rounds[static_cast<std::size_t>(repeat)].push_back(std::move(r));
    }
    if (!store->append_selected(session, repeat, candidates, "state").ok()) std::exit(1);
  });
  time_it("store 64 results", [&](int repeat) {
    need(store->mark_profiled(session, rounds[static_cast<std::size_t>(repeat)]));
  });
  time_it("best", [&](int) { need(store->best({any.task_key, any.target})); });
  time_it("top 8", [&](int) { need(store->top({any.task_key, any.target}, 8)); });
  time_it("known traces", [&](int) { need(store->known_traces(any.task_key, any.target)); });
  time_it("count trials", [&](int) { need(store->count_trials(any.task_key, any.target)); });
  time_it("list 20 of a task",
          [&](int) { need(store->list({.task = any.task_key, .limit = 20})); });
  time_it("load a session of 6,400", [&](int) { need(store->load_session(session)); });
  time_it("open for writing", [&](int) { need(open_sqlite_store(path)); });
  store.reset();
  std::filesystem::remove(path);
  return 0;
}
