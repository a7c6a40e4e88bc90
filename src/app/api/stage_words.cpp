#include "app/api/stage_words.h"

#include "tuner/session/stage_kinds.h"

namespace attune::api {

std::string stage_in_words(const std::string& stage) {
  const session::StageKindInfo* kind = session::find_stage_kind(stage);
  return kind == nullptr || kind->doing.empty() ? stage : std::string(kind->doing);
}

}  // namespace attune::api
