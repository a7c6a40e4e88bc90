#include "tuner/records/transfer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"

namespace attune::records {
namespace {

// Enough to make a transaction's cost small beside its records.
constexpr std::size_t kBatch = 256;

Error cannot_read(const std::string& path, const std::string& why) {
  return {ErrorCode::Io, fmt::format("cannot read '{}': {}", path, why), {}};
}

Result<std::ifstream> open_lines(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::NotFound, fmt::format("cannot read '{}': no such file", path), {}};
  }
  if (std::filesystem::is_directory(path, ignored)) return cannot_read(path, "it is a directory");
  std::ifstream lines(path, std::ios::binary);
  if (!lines) return cannot_read(path, std::strerror(errno));
  return lines;
}

}  // namespace

Result<std::size_t> export_records(Store& store, const RecordFilter& filter,
                                   const std::string& path) {
  ATTUNE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  std::size_t count = 0;
  ATTUNE_RETURN_IF_ERROR(store.visit(filter, [&](const Record& record) {
    ++count;
    return file.write(record_to_json_line(record) + "\n");
  }));
  ATTUNE_RETURN_IF_ERROR(file.commit());
  return count;
}

Result<ImportReport> import_records(Store& store, const std::string& path) {
  ATTUNE_ASSIGN(std::ifstream lines, open_lines(path));
  ImportReport report;
  std::vector<Record> batch;
  const auto flush = [&]() -> Status {
    ATTUNE_ASSIGN(const std::size_t added, store.add_new(batch));
    report.added += added;
    report.duplicates += batch.size() - added;
    batch.clear();
    return {};
  };
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto parsed = record_from_json_line(line);
    if (auto* problem = std::get_if<LineProblem>(&parsed)) {
      problem->line = number;
      report.problems.push_back(std::move(*problem));
      continue;
    }
    batch.push_back(std::get<Record>(std::move(parsed)));
    if (batch.size() == kBatch) ATTUNE_RETURN_IF_ERROR(flush());
  }
  if (lines.bad()) return cannot_read(path, "the disk failed");
  ATTUNE_RETURN_IF_ERROR(flush());
  return report;
}

}  // namespace attune::records
