#include "fleet/server/state/stored_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "fleet/jobs/book/row_checks.h"

namespace attune::server {
namespace {

constexpr std::int64_t kNoWish = 100, kNoEnd = 100;                 // beyond all that there are
constexpr std::int64_t kLargestRowBytes = std::int64_t{256} << 20;  // earlier programs took reports

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = next + 1;
  }
  return numbers;
}

}  // namespace

// Jobs of the program before there were owners are the scheduler's user's.
std::string job_columns(std::int64_t version) {
  return fmt::format(
      "number, key, wish, is_foreign, CASE WHEN length(job) <= {} THEN job ELSE x'' END, {}",
      kLargestRowBytes, version == 1 ? std::to_string(::geteuid()) : "uid");
}

Status read_job(const sqlite::Statement& statement, jobs::JobRow& row) {
  row.number = statement.integer(0);
  row.key = statement.text(1);
  if (const std::int64_t wish = statement.integer(2); wish >= 0) {
    row.wish = static_cast<v1::Wish>(std::min<std::int64_t>(wish, kNoWish));
  }
  row.foreign = statement.integer(3) != 0;
  const bool readable = row.job.ParseFromString(statement.text(4)) && !row.job.id().empty();
  if (!readable) row.job.Clear();
  row.job.set_uid(static_cast<std::uint32_t>(statement.integer(5)));
  if (readable) return jobs::check_row(row);
  return Error{ErrorCode::Corrupt, fmt::format("job {} is unreadable", row.number), {}};
}

Status read_stage(const sqlite::Statement& statement, jobs::StageRow& row) {
  row.bar.set_job(statement.text(0));
  row.epoch = statement.integer(1);
  row.stage = statement.integer(2);
  row.bar.set_kind(statement.text(3));
  row.bar.set_pool(statement.text(4));
  for (const int slot : numbers_of(statement.text(5))) row.bar.add_slots(slot);
  row.bar.set_ready_at(statement.real(6));
  row.bar.set_started_at(statement.real(7));
  row.bar.set_ended_at(statement.real(8));
  row.end = static_cast<v1::StageEnd>(std::clamp<std::int64_t>(statement.integer(9), -1, kNoEnd));
  return jobs::check_row(row);
}

}  // namespace attune::server
