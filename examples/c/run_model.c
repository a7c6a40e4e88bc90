/* Loads a compiled model, runs it once on made-up inputs and prints the beginning of every output.
 *
 *   cc -std=c99 run_model.c -I ../../src/runtime -L ../../build/release/lib -lattune_runtime
 *   ./a.out model.attune
 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attune.h"

#define MAX_TENSORS 64

static int fail(const AttuneError* error) {
  fprintf(stderr, "error: %s\n", error->message);
  if (error->hint[0] != '\0') fprintf(stderr, "hint: %s\n", error->hint);
  return 1;
}

/* Memory that the runtime can use in place. */
static void* aligned_bytes(size_t bytes) {
  void* data = NULL;
  if (posix_memalign(&data, 64, bytes + 1) != 0) exit(1);
  memset(data, 0, bytes);
  return data;
}

static void print_output(const AttuneSession* session, int32_t index, const AttuneTensorInfo* info,
                         const void* data) {
  int64_t shape[ATTUNE_MAX_RANK];
  int64_t elements = 1;
  int32_t rank = 0;
  AttuneError error;
  if (attune_session_output_shape(session, index, &rank, shape, &error) != ATTUNE_OK) {
    exit(fail(&error));
  }
  printf("%s:", info->name);
  for (int32_t d = 0; d < rank; ++d) {
    printf(" %" PRId64, shape[d]);
    elements *= shape[d];
  }
  printf(" =");
  for (int64_t i = 0; i < elements && i < 4 && info->type == ATTUNE_F32; ++i) {
    printf(" %g", (double)((const float*)data)[i]);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  AttuneError error;
  AttuneModel* model = NULL;
  AttuneThreadPool* pool = NULL;
  AttuneSession* session = NULL;
  AttuneTensorInfo input_info[MAX_TENSORS];
  AttuneTensorInfo output_info[MAX_TENSORS];
  AttuneInput inputs[MAX_TENSORS];
  AttuneOutput outputs[MAX_TENSORS];

  if (argc != 2) {
    fprintf(stderr, "usage: run_model MODEL.attune\n");
    return 2;
  }
  if (attune_model_load(argv[1], &model, &error) != ATTUNE_OK) return fail(&error);
  if (attune_thread_pool_create(attune_model_threads(model), &pool, &error) != ATTUNE_OK ||
      attune_session_create(model, pool, &session, &error) != ATTUNE_OK) {
    return fail(&error);
  }

  const int32_t input_count = attune_model_input_count(model);
  const int32_t output_count = attune_model_output_count(model);
  if (input_count > MAX_TENSORS || output_count > MAX_TENSORS) return 1;
  for (int32_t i = 0; i < input_count; ++i) {
    AttuneTensorInfo* info = &input_info[i];
    if (attune_model_input(model, i, info, &error) != ATTUNE_OK) return fail(&error);
    void* data = aligned_bytes(info->bytes);
    for (size_t k = 0; k < info->bytes / 4 && info->type == ATTUNE_F32; ++k) {
      ((float*)data)[k] = (float)(k % 7) * 0.25f;
    }
    inputs[i] = (AttuneInput){data, info->type, info->rank, info->shape};
  }
  for (int32_t i = 0; i < output_count; ++i) {
    AttuneTensorInfo* info = &output_info[i];
    if (attune_model_output(model, i, info, &error) != ATTUNE_OK) return fail(&error);
    outputs[i] = (AttuneOutput){aligned_bytes(info->bytes), info->bytes};
  }

  if (attune_session_run(session, inputs, input_count, outputs, output_count, &error) !=
      ATTUNE_OK) {
    return fail(&error);
  }
  printf("attune %s, model '%s'\n", attune_version(), attune_model_name(model));
  for (int32_t i = 0; i < output_count; ++i) {
    print_output(session, i, &output_info[i], outputs[i].data);
  }

  for (int32_t i = 0; i < input_count; ++i) free((void*)inputs[i].data);
  for (int32_t i = 0; i < output_count; ++i) free(outputs[i].data);
  attune_session_destroy(session);
  attune_thread_pool_destroy(pool);
  attune_model_destroy(model);
  return 0;
}
