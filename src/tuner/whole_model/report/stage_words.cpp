#include "tuner/whole_model/report/stage_words.h"

#include "tuner/session/stage_kinds.h"

namespace attune::whole_model {

std::string stage_in_words(const std::string& stage) {
  const session::StageKindInfo* kind = session::find_stage_kind(stage);
  return kind == nullptr || kind->doing.empty() ? stage : std::string(kind->doing);
}

}  // namespace attune::whole_model
