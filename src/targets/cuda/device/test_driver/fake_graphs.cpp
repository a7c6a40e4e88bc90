// The rest of the fake driver: events, and graphs of what was captured.
#include <utility>

#include "targets/cuda/device/test_driver/fake_call.h"

using namespace attune::cuda;

FAKE int cuEventCreate(CuEvent* event, unsigned) {
  FAKE_CALL("cuEventCreate", true);
  ++card.things;
  *event = new CuEventState;
  return kSuccess;
}
FAKE int cuEventDestroy_v2(CuEvent event) {
  FAKE_CALL("cuEventDestroy", true);
  --card.things;
  delete event;
  return kSuccess;
}
FAKE int cuEventRecord(CuEvent event, CuStream stream) {
  FAKE_CALL("cuEventRecord", true);
  event->stream = stream;
  return card.ask(stream, [&card, event] {
    event->at_ns = card.now_ns;
    return kSuccess;
  });
}
FAKE int cuEventSynchronize(CuEvent event) {
  FAKE_CALL("cuEventSynchronize", true);
  return card.finish(event->stream);
}
FAKE int cuEventElapsedTime(float* milliseconds, CuEvent start, CuEvent end) {
  FAKE_CALL("cuEventElapsedTime", true);
  *milliseconds = static_cast<float>(end->at_ns - start->at_ns) * 1e-6f;
  return kSuccess;
}

FAKE int cuStreamBeginCapture_v2(CuStream stream, int) {
  FAKE_CALL("cuStreamBeginCapture", true);
  stream->capturing = true;
  stream->ends_in_launch = false;
  stream->captured.clear();
  return kSuccess;
}
FAKE int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  stream->capturing = stream->ends_in_launch = false;
  FAKE_CALL("cuStreamEndCapture", true);
  ++card.things;
  *graph = new CuGraphState{std::exchange(stream->captured, {})};
  return kSuccess;
}
FAKE int cuGraphDestroy(CuGraph graph) {
  FAKE_CALL("cuGraphDestroy", true);
  --card.things;
  delete graph;
  return kSuccess;
}
FAKE int cuGraphInstantiateWithFlags(CuGraphExec* made, CuGraph graph, unsigned long long) {
  FAKE_CALL("cuGraphInstantiate", true);
  ++card.things;
  *made = new CuGraphExecState{graph->work};
  return kSuccess;
}
FAKE int cuGraphUpload(CuGraphExec, CuStream) {
  FAKE_CALL("cuGraphUpload", true);
  return kSuccess;
}
FAKE int cuGraphLaunch(CuGraphExec graph, CuStream stream) {
  FAKE_CALL("cuGraphLaunch", true);
  for (const FakeWork& work : graph->work) card.ask(stream, work);
  return kSuccess;
}
FAKE int cuGraphExecDestroy(CuGraphExec graph) {
  FAKE_CALL("cuGraphExecDestroy", true);
  --card.things;
  delete graph;
  return kSuccess;
}
