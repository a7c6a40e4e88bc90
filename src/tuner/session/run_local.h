// The local driver: a small loop over the ready stages of one session. Stages of different
// resources run side by side when the session lets them.
#pragma once

#include <atomic>

#include "base/result.h"
#include "tuner/session/report.h"
#include "tuner/session/session.h"

namespace attune::session {

// Until the session is finished; `observer` may be null. When `stop` becomes true the stages that
// run are finished, and the session is left to be resumed.
Status run_local(Session& session, Observer* observer = nullptr,
                 const std::atomic<bool>* stop = nullptr);

}  // namespace attune::session
