/* Runs an artifact once on inputs that depend on nothing but their size, and writes the outputs, one
 * after the other, to a file: the same program for every architecture, so that files can be compared.
 *
 *   run_outputs MODEL.attune OUT
 *
 * With a third file the inputs come from there: of each its rank and its extents, as int64, and its
 * elements; the outputs are then written in the same form.
 *
 *   run_outputs MODEL.attune OUT IN
 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
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

static void* aligned_bytes(size_t bytes) {
  void* data = NULL;
  if (posix_memalign(&data, 64, bytes + 1) != 0) exit(1);
  memset(data, 0, bytes);
  return data;
}

/* Numbers in [-1, 1) for floats; small ones that fit every vocabulary for integers. */
static void fill(void* data, const AttuneTensorInfo* info) {
  uint32_t state = 12345u;
  for (size_t k = 0; k < info->bytes / 4 && info->type == ATTUNE_F32; ++k) {
    state = state * 1664525u + 1013904223u;
    ((float*)data)[k] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
  for (size_t k = 0; k < info->bytes / 8 && info->type == ATTUNE_I64; ++k) {
    ((int64_t*)data)[k] = (int64_t)(k % 2);
  }
}

/* The next input of the file, and its shape into `info`. */
static void* read_input(FILE* file, AttuneTensorInfo* info) {
  int64_t rank = 0;
  size_t bytes = attune_type_bytes(info->type);
  if (fread(&rank, sizeof rank, 1, file) != 1 || rank < 0 || rank > ATTUNE_MAX_RANK) exit(1);
  info->rank = (int32_t)rank;
  if (fread(info->shape, sizeof info->shape[0], (size_t)rank, file) != (size_t)rank) exit(1);
  for (int64_t d = 0; d < rank; ++d) bytes *= (size_t)info->shape[d];
  void* data = aligned_bytes(bytes);
  if (fread(data, 1, bytes, file) != bytes) exit(1);
  return data;
}

/* An output with its shape in the last run. */
static void write_output(FILE* file, const AttuneSession* session, int32_t index, AttuneType type,
                         const void* data) {
  AttuneError error;
  int32_t rank = 0;
  int64_t shape[ATTUNE_MAX_RANK];
  size_t bytes = attune_type_bytes(type);
  if (attune_session_output_shape(session, index, &rank, shape, &error) != ATTUNE_OK) exit(1);
  const int64_t wide = rank;
  if (fwrite(&wide, sizeof wide, 1, file) != 1) exit(1);
  if (fwrite(shape, sizeof shape[0], (size_t)rank, file) != (size_t)rank) exit(1);
  for (int32_t d = 0; d < rank; ++d) bytes *= (size_t)shape[d];
  if (fwrite(data, 1, bytes, file) != bytes) exit(1);
}

int main(int argc, char** argv) {
  AttuneError error;
  AttuneModel* model = NULL;
  AttuneThreadPool* pool = NULL;
  AttuneSession* session = NULL;
  AttuneTensorInfo infos[MAX_TENSORS];
  AttuneInput inputs[MAX_TENSORS];
  AttuneOutput outputs[MAX_TENSORS];

  AttuneType output_types[MAX_TENSORS];

  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: run_outputs MODEL.attune OUT [IN]\n");
    return 2;
  }
  FILE* given = argc == 4 ? fopen(argv[3], "rb") : NULL;
  if (argc == 4 && given == NULL) return 1;
  if (attune_model_load(argv[1], &model, &error) != ATTUNE_OK) return fail(&error);
  if (attune_thread_pool_create(attune_model_threads(model), &pool, &error) != ATTUNE_OK ||
      attune_session_create(model, pool, &session, &error) != ATTUNE_OK) {
    return fail(&error);
  }
  const int32_t input_count = attune_model_input_count(model);
  const int32_t output_count = attune_model_output_count(model);
  if (input_count > MAX_TENSORS || output_count > MAX_TENSORS) return 1;
  for (int32_t i = 0; i < input_count; ++i) {
    if (attune_model_input(model, i, &infos[i], &error) != ATTUNE_OK) return fail(&error);
    void* data = given != NULL ? read_input(given, &infos[i]) : aligned_bytes(infos[i].bytes);
    if (given == NULL) fill(data, &infos[i]);
    inputs[i] = (AttuneInput){data, infos[i].type, infos[i].rank, infos[i].shape};
  }
  for (int32_t i = 0; i < output_count; ++i) {
    AttuneTensorInfo info;
    if (attune_model_output(model, i, &info, &error) != ATTUNE_OK) return fail(&error);
    outputs[i] = (AttuneOutput){aligned_bytes(info.bytes), info.bytes};
    output_types[i] = info.type;
  }
  if (attune_session_run(session, inputs, input_count, outputs, output_count, &error) !=
      ATTUNE_OK) {
    return fail(&error);
  }
  FILE* file = fopen(argv[2], "wb");
  if (file == NULL) return 1;
  for (int32_t i = 0; i < output_count; ++i) {
    if (given != NULL) {
      write_output(file, session, i, output_types[i], outputs[i].data);
    } else if (fwrite(outputs[i].data, 1, outputs[i].bytes, file) != outputs[i].bytes) {
      return 1;
    }
  }
  if (fclose(file) != 0) return 1;
  if (given != NULL) fclose(given);
  attune_session_destroy(session);
  attune_thread_pool_destroy(pool);
  attune_model_destroy(model);
  return 0;
}
