// The kinds of features, one file each.
#pragma once

#include <span>

#include "compiler/target/target.h"
#include "tuner/space/space.h"

namespace attune::features {

std::size_t knob_width(const space::Space& space);

std::size_t context_width();
void extract_context(const space::Scheduled& scheduled, const target::Target& target,
                     std::span<float> out);

std::size_t relation_width();
void extract_relation(const space::Scheduled& scheduled, const target::Target& target,
                      std::span<float> out);

}  // namespace attune::features
