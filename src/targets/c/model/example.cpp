// NAME_example.c: a program that runs the model once.
#include <fmt/format.h>

#include "targets/c/model/parts.h"

namespace attune::c {
namespace {

std::string sizes_of(const std::string& name, std::string_view list, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}_{}_{}_BYTES, ", name, list, i);
  return text + "0";
}

constexpr const char* kProgram = R"(/* Runs {0} once.
 *
 *   {0}_example                         on zeros; prints the beginning of each output
 *   {0}_example INPUT... OUTPUT...      files of bytes, one per tensor, in the order of {0}.h{1} */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

{6}

static const size_t input_bytes[] = {{{2}}};
static const size_t output_bytes[] = {{{3}}};

static void* allocate(size_t bytes) {{
  void* data = aligned_alloc(64, bytes / 64 * 64 + 64);
  if (data == 0) {{
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(1);
  }}
  memset(data, 0, bytes / 64 * 64 + 64);
  return data;
}}

static void read_bytes(const char* path, void* data, size_t bytes) {{
  FILE* file = fopen(path, "rb");
  const size_t got = file == 0 ? 0 : fread(data, 1, bytes, file);
  if (file != 0) fclose(file);
  if (got == bytes) return;
  fprintf(stderr, "cannot read %zu bytes from '%s'\n", bytes, path);
  exit(1);
}}

static void write_bytes(const char* path, const void* data, size_t bytes) {{
  FILE* file = fopen(path, "wb");
  const size_t written = file == 0 ? 0 : fwrite(data, 1, bytes, file);
  if (file != 0 && fclose(file) == 0 && written == bytes) return;
  fprintf(stderr, "cannot write '%s'\n", path);
  exit(1);
}}

int main(int argc, char** argv) {{
  const void* inputs[{0}_INPUTS + 1] = {{0}};
  void* outputs[{0}_OUTPUTS + 1] = {{0}};
  const int with_files = argc == 1 + {0}_INPUTS + {0}_OUTPUTS;
  if (!with_files && argc != 1) {{
    fprintf(stderr, "usage: %s [INPUT... OUTPUT...]\n", argv[0]);
    return 2;
  }}
  for (int i = 0; i < {0}_INPUTS; ++i) {{
    void* data = allocate(input_bytes[i]);
    if (with_files) read_bytes(argv[1 + i], data, input_bytes[i]);
    inputs[i] = data;
  }}
  for (int i = 0; i < {0}_OUTPUTS; ++i) outputs[i] = allocate(output_bytes[i]);
  void* workspace = allocate({0}_WORKSPACE_BYTES);
{4}  if ({0}_run({5}inputs, outputs, workspace, 0) != 0) {{
    fprintf(stderr, "{0}_run failed\n");
    return 1;
  }}
  for (int i = 0; i < {0}_OUTPUTS; ++i) {{
    if (with_files) {{
      write_bytes(argv[1 + {0}_INPUTS + i], outputs[i], output_bytes[i]);
      continue;
    }}
    printf("output %d:", i);
    for (size_t k = 0; k < 4 && 4 * k + 4 <= output_bytes[i]; ++k) {{
      float value;
      memcpy(&value, (const char*)outputs[i] + 4 * k, sizeof value);
      printf(" %g", (double)value);
    }}
    printf("\n");
  }}
  for (int i = 0; i < {0}_INPUTS; ++i) free((void*)inputs[i]);
  for (int i = 0; i < {0}_OUTPUTS; ++i) free(outputs[i]);
  free(workspace);
{7}  return 0;
}}
)";

}  // namespace

std::string example_text(const ModelParts& parts) {
  const runtime::Plan& plan = parts.source.plan;
  const bool from_file = parts.form == WeightsForm::File;
  const std::string note =
      from_file
          ? fmt::format("\n *\n * The weights are read from {}.weights in the current directory.",
                        parts.name)
          : "";
  const std::string reading =
      from_file ? fmt::format(
                      "  void* weights = allocate({0}_WEIGHTS_BYTES);\n"
                      "  read_bytes(\"{0}.weights\", weights, {0}_WEIGHTS_BYTES);\n",
                      parts.name)
                : "";
  return fmt::format(kProgram, parts.name, note, sizes_of(parts.name, "INPUT", plan.inputs.size()),
                     sizes_of(parts.name, "OUTPUT", plan.outputs.size()), reading,
                     from_file ? "weights, " : "", fmt::format("#include \"{}.h\"", parts.name),
                     from_file ? "  free(weights);\n" : "");
}

}  // namespace attune::c
