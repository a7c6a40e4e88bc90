#include "fleet/server/file_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"

namespace attune::server {
UploadStream::UploadStream(CallState& state, std::unique_ptr<UnderWay> under_way,
                           v1::UploadReply& reply)
    : state_(state), under_way_(std::move(under_way)), reply_(reply) {
  state_.files.add([this] { begin(); });
}

void UploadStream::OnReadDone(bool ok) {
  state_.files.add([this, ok] { take(ok); });
}

void UploadStream::OnDone() {
  state_.files.add([this] { end(); });
}

void UploadStream::begin() {
  const ServiceOptions& options = state_.options;
  Result<Upload> begun =
      Upload::begin(options.state, under_way_->caller().uid, {}, options.around.sync_file);
  if (!begun.ok()) return Finish(wire::to_status(begun.error()));
  upload_.emplace(std::move(*begun));
  StartRead(&incoming_);
}

void UploadStream::take(bool ok) {
  if (cancelled_) return Finish(grpc::Status::CANCELLED);
  if (!ok) {
    const Result<std::string> name = upload_->finish();
    if (!name.ok()) return Finish(wire::to_status(name.error()));
    reply_.set_files(*name);
    answered_ = true;
    return Finish(grpc::Status::OK);
  }
  const Status added = upload_->add(incoming_);
  if (!added.ok()) return Finish(wire::to_status(added.error()));
  StartRead(&incoming_);
}

// A connection that broke may look like one on which all has been sent, until the answer to it does
// not arrive.
void UploadStream::end() {
  if (answered_ && !cancelled_) upload_->keep();
  delete this;
}

FetchStream::FetchStream(CallState& state, std::unique_ptr<UnderWay> under_way,
                         const std::string& job)
    : state_(state), under_way_(std::move(under_way)) {
  const bool heard = under_way_->in_time() && state.loop->post([this, job](Turn& turn) {
    state_.files.add(
        [this, found = turn.book.fetched(under_way_->caller(), job)] { begin(found); });
  });
  if (!heard) Finish(ending());
}

void FetchStream::begin(const Result<std::string>& job) {
  if (!job.ok()) return Finish(wire::to_status(job.error()));
  folder_ = wire::job_path(state_.options.state, *job);
  names_ = results_of(state_.options.state, *job);
  if (open_next()) return write_part(true);
  Finish(wire::to_status({ErrorCode::NotFound,
                          fmt::format("job '{}' has made nothing that can be fetched", *job),
                          "'attune jobs show' says what became of it"}));
}

bool FetchStream::open_next() {
  while (!names_.empty()) {
    const std::string name = names_.front();
    names_.erase(names_.begin());
    const std::string path = folder_ + "/" + name;
    file_ = wire::Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    outgoing_.set_name(name);
    if (file_.is_open()) return true;
  }
  return false;
}

void FetchStream::write_part(bool first) {
  if (!first) outgoing_.clear_name();
  std::string& data = *outgoing_.mutable_data();
  data.resize(wire::kFilePartBytes);
  ssize_t some = 0;
  do {
    some = ::read(file_.number(), data.data(), data.size());
  } while (some < 0 && errno == EINTR);
  if (some < 0) {
    return Finish(wire::to_status({ErrorCode::Io, "what the job made cannot be read", {}}));
  }
  data.resize(static_cast<std::size_t>(some));
  if (some > 0 || first) return StartWrite(&outgoing_);
  if (open_next()) return write_part(true);
  Finish(grpc::Status::OK);
}

void FetchStream::OnWriteDone(bool ok) {
  if (!ok) return Finish(grpc::Status::CANCELLED);
  state_.files.add([this] { write_part(false); });
}

void FetchStream::OnDone() {
  state_.files.add([this] { delete this; });
}

}  // namespace attune::server
