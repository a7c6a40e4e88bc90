/* The C interface of the Attune runtime: loads compiled models (artifacts) and runs them. Running
 * an artifact is running its code, with all rights of the process: take it from nobody whom you
 * would not take a program from, or verify its signature. Plain C99, no other header of Attune is
 * needed; link with -lattune_runtime. A model is loaded once and
 * may be used by many threads at the same time, each with a session of its own; a session runs one
 * call at a time. Objects may be destroyed in any order: what still needs another one keeps it
 * alive. */
#ifndef ATTUNE_H
#define ATTUNE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ATTUNE_API __attribute__((visibility("default")))
#else
#define ATTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_MAX_RANK 16

typedef enum AttuneStatus {
  ATTUNE_OK = 0,
  ATTUNE_INVALID_ARGUMENT = 1, /* what was asked for makes no sense */
  ATTUNE_UNSUPPORTED = 2,      /* it makes sense, but this runtime or machine cannot do it */
  ATTUNE_NOT_FOUND = 3,        /* a file is missing */
  ATTUNE_IO = 4,               /* the disk or a kernel failed */
  ATTUNE_CORRUPT = 5,          /* an artifact is damaged, changed, or not signed as it should be */
  ATTUNE_EXHAUSTED = 6         /* memory ran out */
} AttuneStatus;

typedef enum AttuneType {
  ATTUNE_F32 = 0,
  ATTUNE_F16 = 1,
  ATTUNE_BF16 = 2,
  ATTUNE_I8 = 3,
  ATTUNE_U8 = 4,
  ATTUNE_I32 = 5,
  ATTUNE_I64 = 6,
  ATTUNE_BOOL = 7, /* one byte, 0 or 1 */
  ATTUNE_F64 = 8,
  ATTUNE_I16 = 9,
  ATTUNE_U16 = 10,
  ATTUNE_U32 = 11,
  ATTUNE_U64 = 12
} AttuneType;

/* What went wrong, in one sentence, and the next step to take ("" if there is none). Filled in by
 * calls that fail; every call takes NULL for it as well. */
typedef struct AttuneError {
  AttuneStatus status;
  char message[512];
  char hint[256];
} AttuneError;

typedef struct AttuneThreadPool AttuneThreadPool;
typedef struct AttuneModel AttuneModel;
typedef struct AttuneSession AttuneSession;

/* An input or output of a model. Extents that depend on data are given by their maximum. */
typedef struct AttuneTensorInfo {
  const char* name; /* lives as long as the model */
  AttuneType type;
  int32_t rank;
  int64_t shape[ATTUNE_MAX_RANK];
  size_t bytes; /* at that shape */
} AttuneTensorInfo;

/* Row-major and compact. Memory aligned to 64 bytes is used in place, other memory is copied. */
typedef struct AttuneInput {
  const void* data;
  AttuneType type;
  int32_t rank;
  const int64_t* shape;
} AttuneInput;

typedef struct AttuneOutput {
  void* data;
  size_t bytes; /* room, at least AttuneTensorInfo.bytes */
} AttuneOutput;

/* "0.1.0" */
ATTUNE_API const char* attune_version(void);
/* Bytes of one element; 0 for an unknown type. */
ATTUNE_API size_t attune_type_bytes(AttuneType type);

/* Threads that all sessions may share; 0 means one per core that this process may use, or fewer
   where its control group has time for fewer. */
ATTUNE_API AttuneStatus attune_thread_pool_create(int32_t threads, AttuneThreadPool** pool,
                                                  AttuneError* error);
ATTUNE_API void attune_thread_pool_destroy(AttuneThreadPool* pool);

/* Loads an artifact. It is checked first: damaged, newer and foreign ones are refused before any of
 * their code is touched, and none of it runs before a session does. Weights of more than 256 MiB
 * stay in the file: when that is changed in place, runs fail from then on, so replace artifacts by
 * renaming a new file over them. For that the first such load installs a handler of SIGBUS, which
 * hands on what is not about artifacts; with a handler of yours in its place, a file that is cut
 * short ends the process. */
ATTUNE_API AttuneStatus attune_model_load(const char* path, AttuneModel** model,
                                          AttuneError* error);
/* Returns 0 if `signature` (64 bytes, Ed25519 of RFC 8032) is one of `bytes` by a key that you
 * trust; `user` is what you gave along. */
typedef int32_t (*AttuneVerify)(void* user, const void* bytes, size_t byte_count,
                                const void* signature, size_t signature_bytes);
/* The same for artifacts that you do not trust as they are: one that is not signed, or that
 * `verify` does not return 0 for, is refused before anything else of it is looked at. All of the
 * artifact is read into memory, so that what was verified is what runs. */
ATTUNE_API AttuneStatus attune_model_load_verified(const char* path, AttuneVerify verify,
                                                   void* user, AttuneModel** model,
                                                   AttuneError* error);
ATTUNE_API void attune_model_destroy(AttuneModel* model);
ATTUNE_API const char* attune_model_name(const AttuneModel* model);
/* How many threads the code was made for; a pool of that size suits it best. */
ATTUNE_API int32_t attune_model_threads(const AttuneModel* model);
ATTUNE_API int32_t attune_model_input_count(const AttuneModel* model);
ATTUNE_API int32_t attune_model_output_count(const AttuneModel* model);
ATTUNE_API AttuneStatus attune_model_input(const AttuneModel* model, int32_t index,
                                           AttuneTensorInfo* info, AttuneError* error);
ATTUNE_API AttuneStatus attune_model_output(const AttuneModel* model, int32_t index,
                                            AttuneTensorInfo* info, AttuneError* error);

/* The memory for one caller, allocated here; running allocates no more. */
ATTUNE_API AttuneStatus attune_session_create(const AttuneModel* model, AttuneThreadPool* pool,
                                              AttuneSession** session, AttuneError* error);
ATTUNE_API void attune_session_destroy(AttuneSession* session);

/* Inputs and outputs in the order of the model. */
ATTUNE_API AttuneStatus attune_session_run(AttuneSession* session, const AttuneInput* inputs,
                                           int32_t input_count, const AttuneOutput* outputs,
                                           int32_t output_count, AttuneError* error);
/* How long the work of the last run takes by the clock of the device that does it, done so often
 * once more: microseconds of one. A device that can is asked for all of it at once, as one CUDA
 * graph of so many calls. Nothing is moved from or to the host. The memory of that run must still
 * be there and be aligned to 64 bytes. */
ATTUNE_API AttuneStatus attune_session_time(AttuneSession* session, int32_t calls,
                                            double* microseconds, AttuneError* error);
/* The same of several sessions of models for one device, one after the other in each call:
 * microseconds of a call of all of them. */
ATTUNE_API AttuneStatus attune_sessions_time(AttuneSession* const* sessions, int32_t session_count,
                                             int32_t calls, double* microseconds,
                                             AttuneError* error);
/* The actual shape of an output in the last run that succeeded. */
ATTUNE_API AttuneStatus attune_session_output_shape(const AttuneSession* session, int32_t index,
                                                    int32_t* rank, int64_t shape[ATTUNE_MAX_RANK],
                                                    AttuneError* error);

#ifdef __cplusplus
}
#endif

#endif
