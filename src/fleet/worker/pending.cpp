#include "fleet/worker/pending.h"

namespace attune::worker {
namespace {

constexpr std::int64_t kEnded = -1;  // in the place of a stage's number

}  // namespace

template <typename Message>
Pending::Job* Pending::find(const Message& message) {
  const auto found = jobs_.find({message.job(), message.epoch()});
  return found == jobs_.end() ? nullptr : &found->second;
}

void Pending::said(const v1::FromWorker& message) {
  switch (message.what_case()) {
    case v1::FromWorker::kKinds:
      if (Job* job = find(message.kinds())) job->kinds = message;
      return;
    case v1::FromWorker::kOffer:
      if (Job* job = find(message.offer())) job->offers[message.offer().stage()] = message;
      return;
    case v1::FromWorker::kFinished:
      if (Job* job = find(message.finished())) {
        job->offers.erase(message.finished().stage());
        job->results.push_back(message);
      }
      return;
    case v1::FromWorker::kProgress:
      if (Job* job = find(message.progress())) job->progress = message;
      return;
    case v1::FromWorker::kEnded:
      if (Job* job = find(message.ended())) job->ended = message;
      return;
    default:
      return;
  }
}

void Pending::heard(const v1::ToWorker& message) {
  if (message.has_assign()) {
    jobs_[{message.assign().job().id(), message.assign().job().epoch()}] = {};
    return;
  }
  const bool refused = message.has_refused();
  if (!refused && !message.has_known()) return;
  if (refused) {
    jobs_.erase({message.refused().job(), message.refused().epoch()});
  } else if (message.known().stage() == kEnded) {
    jobs_.erase({message.known().job(), message.known().epoch()});
  } else if (Job* job = find(message.known())) {
    std::erase_if(job->results, [&](const v1::FromWorker& result) {
      return result.finished().stage() == message.known().stage();
    });
  }
}

std::vector<v1::Holding> Pending::holdings() const {
  std::vector<v1::Holding> holdings;
  for (const auto& [key, job] : jobs_) {
    v1::Holding& holding = holdings.emplace_back();
    holding.set_job(key.first);
    holding.set_epoch(key.second);
  }
  return holdings;
}

std::vector<v1::FromWorker> Pending::again() const {
  std::vector<v1::FromWorker> messages;
  for (const auto& [key, job] : jobs_) {
    if (job.kinds) messages.push_back(*job.kinds);
    messages.insert(messages.end(), job.results.begin(), job.results.end());
    for (const auto& [stage, offer] : job.offers) messages.push_back(offer);
    if (job.progress) messages.push_back(*job.progress);
    if (job.ended) messages.push_back(*job.ended);
  }
  return messages;
}

}  // namespace attune::worker
