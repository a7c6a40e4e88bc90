// What a stage of tuning does, in words for people.
#pragma once

#include <string>

namespace attune::whole_model {

// "compiling the model"; the name of the stage where there is no more to say.
std::string stage_in_words(const std::string& stage);

}  // namespace attune::whole_model
