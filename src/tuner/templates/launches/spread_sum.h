// A stage that adds up a few partial sums where they are read: every thread of a launch takes some
// neighbouring elements, and reads all their parts before it adds them up.
#pragma once

#include "tuner/templates/launches/launch_writer.h"

namespace attune::templates {

bool spread_sum(LaunchWriter& writer, const std::string& host, const std::string& sum);

}  // namespace attune::templates
