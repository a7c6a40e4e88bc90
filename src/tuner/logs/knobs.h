// Knobs of AutoTVM's templates and of ours. Where both mean the same they have a translation;
// others of ours are written under their own name behind "attune.", so that nothing is lost on the
// way to a log and back, and others of theirs have no counterpart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/logs/log_line.h"
#include "tuner/space/config.h"

namespace attune::logs {

struct TranslatedKnobs {
  space::Settings settings;          // of our knobs; may name some that a template does not have
  std::vector<std::string> ignored;  // names of theirs that mean nothing here
};

// `task` is AutoTVM's name of the task, `lanes` how many elements of a sum a vector holds.
TranslatedKnobs translate_knobs(const std::vector<Entity>& entities, std::string_view task,
                                std::string_view template_name, std::int64_t lanes);

// The algorithm that a log of ours names, else "".
std::string named_algorithm(const std::vector<Entity>& entities);

// The other way round: what the choice of each knob is called in a log.
std::vector<Entity> entities_of(const std::vector<space::Knob>& knobs, const space::Config& config,
                                std::string_view template_name, const std::string& algorithm,
                                std::int64_t lanes);

}  // namespace attune::logs
