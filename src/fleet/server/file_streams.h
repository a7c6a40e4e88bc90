// Files over the wire: those that somebody sends for a job, and those that a job made. What gRPC
// calls back does nothing but hand the next step over to the thread for files: the threads that
// call back are few, and hear all workers too. A stream has one step under way.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/server/calls/call_state.h"
#include "fleet/server/uploads.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {

class UploadStream final : public grpc::ServerReadReactor<v1::FilePart> {
 public:
  UploadStream(CallState& state, std::unique_ptr<UnderWay> under_way, v1::UploadReply& reply);
  void OnReadDone(bool ok) override;
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override;

 private:
  void begin();
  void take(bool ok);
  void end();

  CallState& state_;
  const std::unique_ptr<UnderWay> under_way_;
  std::atomic<bool> cancelled_ = false;
  bool answered_ = false;  // with the name of the upload
  v1::UploadReply& reply_;
  std::optional<Upload> upload_;
  v1::FilePart incoming_;
};

class FetchStream final : public grpc::ServerWriteReactor<v1::FilePart> {
 public:
  // The job is found by the loop, within the caller's rights; the files are not opened by it.
  FetchStream(CallState& state, std::unique_ptr<UnderWay> under_way, const std::string& job);
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  void begin(const Result<std::string>& job);
  bool open_next();
  void write_part(bool first);

  CallState& state_;
  const std::unique_ptr<UnderWay> under_way_;
  std::string folder_;
  std::vector<std::string> names_;  // that are still to come
  wire::Descriptor file_;
  v1::FilePart outgoing_;
};

}  // namespace attune::server
