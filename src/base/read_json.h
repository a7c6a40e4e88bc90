// The one reader of JSON that anybody may have written: what is nested too deep is no JSON, before
// anything is built of it. Values are copied, written and taken down level by level, so that a
// report of nothing but brackets would end the program that shows it.
#pragma once

#include <string_view>

#include "base/json_depth.h"

namespace attune {

// `Json` is nlohmann's; discarded where the text is none.
template <typename Json>
Json read_json(std::string_view text) {
  if (json_depth(text) > kDeepestJson) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace attune
