#include "app/verbs/check/onnx_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "compiler/model/load/model.h"

namespace attune::verbs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataSet = "test_data_set_";

// "test_data_set_2" before "test_data_set_10".
std::vector<std::string> data_sets_of(const fs::path& folder) {
  std::vector<std::pair<std::size_t, std::string>> sets;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kDataSet) || !entry.is_directory(ignored)) continue;
    sets.emplace_back(name.size(), entry.path().string());
  }
  std::sort(sets.begin(), sets.end());
  std::vector<std::string> paths;
  for (auto& [length, path] : sets) paths.push_back(std::move(path));
  return paths;
}

std::string light_output_of(const fs::path& model) {
  fs::path output = model;
  output.replace_filename(model.stem().string() + "_output_0.pb");
  std::error_code ignored;
  return fs::is_regular_file(output, ignored) ? output.string() : "";
}

// The cases of a folder itself, not of those below it.
void add_own_cases(const fs::path& folder, const std::string& name, std::vector<OnnxCase>& cases) {
  std::error_code ignored;
  if (const fs::path model = folder / "model.onnx"; fs::is_regular_file(model, ignored)) {
    cases.push_back({name, model.string(), data_sets_of(folder), ""});
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".onnx") continue;
    const std::string output = light_output_of(entry.path());
    if (output.empty()) continue;
    cases.push_back({entry.path().stem().string(), entry.path().string(), {}, output});
  }
}

void add_cases(const fs::path& folder, const std::string& name, int depth,
               std::vector<OnnxCase>& cases) {
  constexpr int kDeepest = 4;
  const std::size_t before = cases.size();
  add_own_cases(folder, name, cases);
  if (cases.size() > before || depth == kDeepest) return;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (!entry.is_directory(ignored)) continue;
    const std::string below = entry.path().filename().string();
    add_cases(entry.path(), depth == 0 ? below : name + "/" + below, depth + 1, cases);
  }
}

}  // namespace

Result<std::vector<OnnxCase>> find_onnx_cases(const std::string& path) {
  std::error_code ignored;
  std::vector<OnnxCase> cases;
  if (fs::is_directory(path, ignored)) {
    const fs::path folder = fs::path(path).lexically_normal();
    const fs::path last = folder.has_filename() ? folder : folder.parent_path();
    add_cases(folder, last.filename().string(), 0, cases);
  } else {
    const fs::path model(path);
    const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
    OnnxCase one{model.stem().string(), path, data_sets_of(folder), light_output_of(model)};
    if (!one.data_sets.empty()) one.name = fs::absolute(folder).filename().string();
    cases.push_back(std::move(one));
  }
  if (cases.empty()) {
    return Error{ErrorCode::NotFound, fmt::format("there are no ONNX test cases in '{}'", path),
                 "a case is a folder with model.onnx and test_data_set_0"};
  }
  std::sort(cases.begin(), cases.end(),
            [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

bool names_onnx_cases(const std::string& text) {
  std::error_code ignored;
  if (!model::may_be_file(text)) return false;
  if (fs::is_directory(text, ignored)) return true;
  const fs::path path(text);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool is_case = path.filename() == "model.onnx" && !data_sets_of(folder).empty();
  return is_case || !light_output_of(path).empty();
}

}  // namespace attune::verbs
