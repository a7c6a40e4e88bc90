// What others say to the book is looked at before it is believed: numbers that are none, or beyond
// all measure, would spoil sums and orders for good.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/wire/jobs.pb.h"

namespace attune::jobs {

Status check_numbers(const v1::JobSpec& spec);
// What everybody is shown of a job, and its name: so long at most.
Status check_names(const v1::JobSpec& spec);
using Kinds = google::protobuf::RepeatedPtrField<v1::StageKind>;
Status check_kinds(const Kinds& kinds);
Status check_kind_numbers(const Kinds& kinds);
Status check_finished(const v1::Finished& finished);
Status check_wish(v1::Wish wish);
// What a worker says, whatever it is: within what one message may be, and of a job that has a name.
Status check_said(const v1::FromWorker& message);
// What users ask of a scheduler that is another's (user_limits.h); and what their tuners bring.
Status check_asked_of_another(const v1::JobSpec& spec);
Status check_tuned(const v1::JobSpec& spec);
Status check_tuned_kinds(const Kinds& kinds);
// What is said once and kept: within the limits of messages.
Status check_size(const v1::SubmitRequest& request);
// The latency that goes with a report.
Status check_known(const v1::SubmitRequest& request);
Status check_hello(const v1::Hello& hello);
// A reason is cut, and a report left out, where they are longer than what is kept.
v1::Ended within_limits(v1::Ended ended);
v1::Ended without_report(v1::Ended ended, const std::string& why);
// At most so long, between two characters, and marked where something is missing.
std::string cut_text(const std::string& text, std::size_t most_bytes);
// A name like a number of a job ("j7") would stand for two jobs.
bool looks_like_id(const std::string& name);

}  // namespace attune::jobs
