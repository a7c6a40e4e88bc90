// ONNX models: read from a file without a name, and made into a graph.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"
#include "tests/fuzz/harness.h"

namespace attune::fuzz {
namespace {

class NamelessFile {
 public:
  explicit NamelessFile(std::string_view bytes) : descriptor_(::memfd_create("x.onnx", 0)) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    CHECK(written == static_cast<ssize_t>(bytes.size()), "there is room for the file");
  }
  ~NamelessFile() { ::close(descriptor_); }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

void fuzz_onnx_model(std::string_view bytes) {
  const NamelessFile file(bytes);
  const auto model = onnx_proto::read_model(file.path());
  if (!model.ok()) return;
  for (const auto& tensor : model->proto().graph().initializer()) (void)model->tensor(tensor);
  (void)onnx::import_model(*model, {});
}

}  // namespace attune::fuzz
