// What the text by which a person names a model says by itself, for those who look at no files and
// know no models. What it names in the end is the loader's to say (load/model.h).
#pragma once

#include <string>
#include <string_view>

namespace attune::model_text {

// Whether a file of this name is written or read as an artifact, whatever it holds; the same for a
// model of ONNX.
bool is_artifact_name(std::string_view name);
bool is_onnx_name(std::string_view name);

// A path, or one of these names.
bool is_written_as_file(std::string_view text);

// What to call it: a file without folder and suffix, a name of the zoo, the family of an operator.
std::string short_name(const std::string& text);

}  // namespace attune::model_text
