#include "compiler/model/text/model_text.h"

#include <filesystem>

namespace attune::model_text {

bool is_artifact_name(std::string_view name) { return name.ends_with(".attune"); }

bool is_onnx_name(std::string_view name) { return name.ends_with(".onnx"); }

bool is_written_as_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || is_onnx_name(text) || is_artifact_name(text);
}

std::string short_name(const std::string& text) {
  if (is_written_as_file(text)) return std::filesystem::path(text).stem().string();
  return text.substr(0, text.find(':'));
}

}  // namespace attune::model_text
