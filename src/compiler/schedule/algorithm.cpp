#include "compiler/schedule/primitives.h"

namespace attune::schedule {

// The program was replaced before replay; the step only records which one it is made for.
Status apply_step(State&, const Algorithm&) { return {}; }

}  // namespace attune::schedule
