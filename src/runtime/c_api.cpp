// The C interface on top of the executor. Exceptions (the standard library's, when memory runs out)
// end here.
#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/attune.h"
#include "runtime/execution/executor.h"
#include "runtime/execution/usable_cores.h"

#ifndef ATTUNE_VERSION
#define ATTUNE_VERSION "unknown"
#endif

using attune::Error;
using attune::ErrorCode;
using attune::Status;
using namespace attune::runtime;

struct AttuneThreadPool {
  std::shared_ptr<ThreadPool> pool;
};
struct AttuneModel {
  std::shared_ptr<const Model> model;
};
struct AttuneSession {
  std::shared_ptr<ThreadPool> pool;  // outlives the session
  Session session;
  std::vector<InputView> inputs;
  std::vector<OutputView> outputs;
};

namespace {

static_assert(ATTUNE_MAX_RANK == kMaxRank);
static_assert(ATTUNE_BOOL == static_cast<int>(DType::Bool));
static_assert(ATTUNE_U64 + 1 == kDTypeCount && ATTUNE_U64 == static_cast<int>(DType::U64));

AttuneStatus status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return ATTUNE_INVALID_ARGUMENT;
    case ErrorCode::Unsupported:
      return ATTUNE_UNSUPPORTED;
    case ErrorCode::NotFound:
      return ATTUNE_NOT_FOUND;
    case ErrorCode::Io:
      return ATTUNE_IO;
    case ErrorCode::Corrupt:
      return ATTUNE_CORRUPT;
    case ErrorCode::Exhausted:
      return ATTUNE_EXHAUSTED;
  }
  return ATTUNE_INVALID_ARGUMENT;
}

void copy_text(const std::string& text, char* to, std::size_t room) {
  const std::size_t length = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

AttuneStatus give(const Status& result, AttuneError* error) {
  const AttuneStatus status = result.ok() ? ATTUNE_OK : status_of(result.error().code);
  if (error == nullptr) return status;
  error->status = status;
  copy_text(result.ok() ? "" : result.error().message, error->message, sizeof error->message);
  copy_text(result.ok() ? "" : result.error().hint, error->hint, sizeof error->hint);
  return status;
}

// Runs a function that gives a Status, and turns that into the answer of a call.
template <typename Function>
AttuneStatus answer(AttuneError* error, Function function) {
  try {
    return give(function(), error);
  } catch (const std::bad_alloc&) {
    return give(Error{ErrorCode::Exhausted, "memory ran out", "free memory on this machine"},
                error);
  } catch (const std::exception& problem) {
    return give(Error{ErrorCode::Io, problem.what(), ""}, error);
  }
}

bool is_type(int type) { return type >= 0 && type < kDTypeCount; }

Status describe(const std::vector<InterfaceTensor>& tensors, std::int32_t index,
                AttuneTensorInfo* info) {
  if (info == nullptr || index < 0 || index >= std::ssize(tensors)) {
    return attune::invalid("there is no tensor " + std::to_string(index) + " of " +
                           std::to_string(tensors.size()));
  }
  const InterfaceTensor& tensor = tensors[static_cast<std::size_t>(index)];
  *info = {};
  info->name = tensor.name.c_str();
  info->type = static_cast<AttuneType>(tensor.type);
  info->rank = static_cast<std::int32_t>(tensor.dims.size());
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) info->shape[d] = tensor.dims[d].maximum;
  info->bytes = static_cast<std::size_t>(maximal_bytes(tensor.type, tensor.dims).value());
  return {};
}

Status run(AttuneSession& session, std::span<const AttuneInput> inputs,
           std::span<const AttuneOutput> outputs) {
  session.inputs.clear();
  session.outputs.clear();
  for (const AttuneInput& input : inputs) {
    if (!is_type(input.type) || input.rank < 0 || (input.rank > 0 && input.shape == nullptr)) {
      return attune::invalid("input " + std::to_string(session.inputs.size()) +
                             " has no type or shape");
    }
    session.inputs.push_back({input.data,
                              static_cast<DType>(input.type),
                              {input.shape, static_cast<std::size_t>(input.rank)}});
  }
  for (const AttuneOutput& output : outputs) session.outputs.push_back({output.data, output.bytes});
  return session.session.run(session.inputs, session.outputs);
}

}  // namespace

extern "C" {

const char* attune_version(void) { return ATTUNE_VERSION; }

size_t attune_type_bytes(AttuneType type) {
  return is_type(type) ? byte_size(static_cast<DType>(type)) : 0;
}

AttuneStatus attune_thread_pool_create(int32_t threads, AttuneThreadPool** pool,
                                       AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (pool == nullptr || threads < 0 || threads > 4096) {
      return attune::invalid("a pool cannot have " + std::to_string(threads) + " threads",
                             "choose 0 for one per core");
    }
    const int workers = threads > 0 ? threads : static_cast<int>(usable_cores().size());
    *pool =
        new AttuneThreadPool{std::make_shared<ThreadPool>(ThreadPoolOptions{.workers = workers})};
    return {};
  });
}

void attune_thread_pool_destroy(AttuneThreadPool* pool) { delete pool; }

AttuneStatus attune_model_load(const char* path, AttuneModel** model, AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (path == nullptr || model == nullptr) return attune::invalid("there is no path");
    ATTUNE_ASSIGN(auto loaded, Model::load(path));
    *model = new AttuneModel{std::move(loaded)};
    return {};
  });
}

AttuneStatus attune_model_load_verified(const char* path, AttuneVerify verify, void* user,
                                        AttuneModel** model, AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (path == nullptr || verify == nullptr || model == nullptr) {
      return attune::invalid("there is no path, or nothing to verify with");
    }
    const auto ask = [&](std::span<const std::byte> bytes,
                         std::span<const std::byte> signature) -> Status {
      if (verify(user, bytes.data(), bytes.size(), signature.data(), signature.size()) == 0) {
        return {};
      }
      return Error{ErrorCode::Corrupt, "its signature is not one of a trusted key",
                   "get the artifact from whom you trust"};
    };
    ATTUNE_ASSIGN(auto loaded, Model::load(path, devices(), ask));
    *model = new AttuneModel{std::move(loaded)};
    return {};
  });
}

void attune_model_destroy(AttuneModel* model) { delete model; }

const char* attune_model_name(const AttuneModel* model) {
  return model->model->plan().model.c_str();
}

int32_t attune_model_threads(const AttuneModel* model) { return model->model->plan().threads; }

int32_t attune_model_input_count(const AttuneModel* model) {
  return static_cast<int32_t>(model->model->plan().inputs.size());
}

int32_t attune_model_output_count(const AttuneModel* model) {
  return static_cast<int32_t>(model->model->plan().outputs.size());
}

AttuneStatus attune_model_input(const AttuneModel* model, int32_t index, AttuneTensorInfo* info,
                                AttuneError* error) {
  return answer(error, [&] { return describe(model->model->plan().inputs, index, info); });
}

AttuneStatus attune_model_output(const AttuneModel* model, int32_t index, AttuneTensorInfo* info,
                                 AttuneError* error) {
  return answer(error, [&] { return describe(model->model->plan().outputs, index, info); });
}

AttuneStatus attune_session_create(const AttuneModel* model, AttuneThreadPool* pool,
                                   AttuneSession** session, AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (model == nullptr || pool == nullptr || session == nullptr) {
      return attune::invalid("a session needs a model and a thread pool");
    }
    ATTUNE_ASSIGN(Session made, Session::create(model->model, *pool->pool));
    *session = new AttuneSession{pool->pool, std::move(made), {}, {}};
    return {};
  });
}

void attune_session_destroy(AttuneSession* session) { delete session; }

AttuneStatus attune_session_run(AttuneSession* session, const AttuneInput* inputs,
                                int32_t input_count, const AttuneOutput* outputs,
                                int32_t output_count, AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (session == nullptr || input_count < 0 || output_count < 0) {
      return attune::invalid("there is no session, or a count is negative");
    }
    return run(*session, {inputs, static_cast<std::size_t>(input_count)},
               {outputs, static_cast<std::size_t>(output_count)});
  });
}

AttuneStatus attune_session_time(AttuneSession* session, int32_t calls, double* microseconds,
                                 AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (session == nullptr || calls < 1 || microseconds == nullptr) {
      return attune::invalid("there is no session or no room for the time, or no call to be timed");
    }
    ATTUNE_ASSIGN(*microseconds, session->session.time_again(calls));
    return {};
  });
}

AttuneStatus attune_sessions_time(AttuneSession* const* sessions, int32_t session_count,
                                  int32_t calls, double* microseconds, AttuneError* error) {
  return answer(error, [&]() -> Status {
    if (sessions == nullptr || session_count < 1 || calls < 1 || microseconds == nullptr) {
      return attune::invalid("there is no session or no room for the time, or no call to be timed");
    }
    std::vector<Session*> all;
    for (int32_t i = 0; i < session_count; ++i) all.push_back(&sessions[i]->session);
    ATTUNE_ASSIGN(*microseconds, Session::time_together(all, calls));
    return {};
  });
}

AttuneStatus attune_session_output_shape(const AttuneSession* session, int32_t index, int32_t* rank,
                                         int64_t shape[ATTUNE_MAX_RANK], AttuneError* error) {
  return answer(error, [&]() -> Status {
    const auto count = std::ssize(session->session.model().plan().outputs);
    if (index < 0 || index >= count) {
      return attune::invalid("there is no output " + std::to_string(index) + " of " +
                             std::to_string(count));
    }
    const auto extents = session->session.output_shape(static_cast<std::size_t>(index));
    *rank = static_cast<int32_t>(extents.size());
    std::copy(extents.begin(), extents.end(), shape);
    return {};
  });
}

}  // extern "C"
