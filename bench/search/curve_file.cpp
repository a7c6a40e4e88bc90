#include "bench/search/curve_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace attune::bench {
namespace {

constexpr const char* kHeader = "spec,variant,seed,trial,trace_hash,us,best_us,trace";
constexpr std::size_t kColumns = 8;

// Fields with commas are in quotes; none has quotes itself.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

const TrialRow* best_of(const Curve& curve, std::size_t count) {
  const TrialRow* best = nullptr;
  for (std::size_t i = 0; i < std::min(count, curve.size()); ++i) {
    if (curve[i].us && (!best || *curve[i].us < *best->us)) best = &curve[i];
  }
  return best;
}

Result<CurveFile> CurveFile::open(const std::string& path) {
  CurveFile file(path);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  std::string content = text.str();
  if (content.empty()) {
    ATTUNE_RETURN_IF_ERROR(file.write(std::string(kHeader) + "\n"));
    return file;
  }
  if (content.back() != '\n') {
    content.resize(content.rfind('\n') + 1);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  std::istringstream lines(content);
  std::string line;
  std::getline(lines, line);
  if (line != kHeader) return invalid(fmt::format("{} is not a file of search curves", path));
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    const auto fields = fields_of(line);
    if (fields.size() != kColumns) {
      return invalid(fmt::format("line {} of {} is damaged", number, path));
    }
    TrialRow row{.trace_hash = std::strtoull(fields[4].c_str(), nullptr, 16),
                 .us = {},
                 .best_us = std::strtod(fields[6].c_str(), nullptr),
                 .trace = fields[7]};
    if (!fields[5].empty()) row.us = std::strtod(fields[5].c_str(), nullptr);
    file.curves_[{fields[0], fields[1], std::strtoull(fields[2].c_str(), nullptr, 10)}].push_back(
        std::move(row));
  }
  return file;
}

const Curve& CurveFile::curve(const RunKey& key) const {
  static const Curve empty;
  const auto found = curves_.find(key);
  return found == curves_.end() ? empty : found->second;
}

Status CurveFile::write(const std::string& line) const {
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  out << line << std::flush;
  if (!out) return invalid(fmt::format("cannot write {}", path_));
  return {};
}

Status CurveFile::add(const RunKey& key, std::uint64_t trace_hash, std::optional<double> us,
                      const std::string& trace) {
  Curve& curve = curves_[key];
  TrialRow row{trace_hash, us, curve.empty() ? 0 : curve.back().best_us, trace};
  if (us && (row.best_us == 0 || *us < row.best_us)) row.best_us = *us;
  std::replace(row.trace.begin(), row.trace.end(), '\n', ';');
  curve.push_back(row);
  return write(fmt::format("\"{}\",{},{},{},{:x},{},{},\"{}\"\n", key.spec, key.variant, key.seed,
                           curve.size(), trace_hash, us ? fmt::format("{:.4f}", *us) : "",
                           row.best_us > 0 ? fmt::format("{:.4f}", row.best_us) : "", row.trace));
}

}  // namespace attune::bench
