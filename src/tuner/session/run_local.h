// The driver of one session: all of its stages that are ready, side by side where the session lets
// them.
#pragma once

#include <atomic>

#include "base/result.h"
#include "tuner/session/driver.h"
#include "tuner/session/report.h"
#include "tuner/session/session.h"

namespace attune::session {

// Until the session is finished; `observer` and `usage` may be null. When `stop` becomes true the
// stages that run are finished, and the session is left to be resumed.
Status run_local(Session& session, Observer* observer = nullptr,
                 const std::atomic<bool>* stop = nullptr, Usage* usage = nullptr);

// The same for stages that are admitted elsewhere. When `enough` becomes true no more candidates
// are selected, and what is open is finished.
Status run_admitted(Session& session, Admission& admission, const Clock& clock, Observer* observer,
                    const std::atomic<bool>* stop, const std::atomic<bool>* enough, Usage* usage);

}  // namespace attune::session
