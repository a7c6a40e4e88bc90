#include "targets/cuda/codegen/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "targets/cuda/codegen/prelude.h"

namespace attune::cuda {
namespace {

using Program = struct ProgramNode*;

// Folders of CUDA toolkits: those that are named, then those that are installed, newest first.
std::vector<std::string> toolkits() {
  std::vector<std::string> named;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root && *root != 0) named.emplace_back(root);
  }
  named.emplace_back("/usr/local/cuda");
  std::vector<std::string> installed;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) installed.push_back(entry.path());
  }
  std::sort(installed.rbegin(), installed.rend());
  named.insert(named.end(), installed.begin(), installed.end());
  return named;
}

std::vector<std::string> usual_paths() {
  std::vector<std::string> paths;
  if (const char* named = std::getenv("ATTUNE_NVRTC"); named && *named != 0) {
    paths.emplace_back(named);
    return paths;
  }
  const std::string names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  paths.assign(std::begin(names), std::end(names));
  for (const std::string& root : toolkits()) {
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      for (const std::string& name : names) paths.push_back(root + "/" + folder + "/" + name);
    }
  }
  return paths;
}

// Without what the compiler says of everything that went well.
std::string first_errors(const std::string& log) {
  const std::size_t at = log.find("error");
  const std::size_t line = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  return log.substr(line, 600);
}

}  // namespace

struct Nvrtc::Functions {
  void* library = nullptr;
  int (*version)(int*, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int count, const char* const* headers,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int count, const char* const* options) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;

  // Whether the library has them all.
  bool find() {
    bool all = true;
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
      all &= function != nullptr;
    };
    get(version, "nvrtcVersion");
    get(error_text, "nvrtcGetErrorString");
    get(create, "nvrtcCreateProgram");
    get(destroy, "nvrtcDestroyProgram");
    get(compile, "nvrtcCompileProgram");
    get(log_size, "nvrtcGetProgramLogSize");
    get(log, "nvrtcGetProgramLog");
    get(cubin_size, "nvrtcGetCUBINSize");
    get(cubin, "nvrtcGetCUBIN");
    get(ptx_size, "nvrtcGetPTXSize");
    get(ptx, "nvrtcGetPTX");
    return all;
  }

  // What two functions give: how long it is, and the thing itself.
  std::string text_of(Program program, int (*size)(Program, std::size_t*),
                      int (*get)(Program, char*)) const {
    std::size_t bytes = 0;
    if (size(program, &bytes) != 0 || bytes == 0) return {};
    std::string text(bytes, '\0');
    return get(program, text.data()) == 0 ? text : std::string();
  }
};

Result<Nvrtc> Nvrtc::open(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    auto functions = std::make_shared<Functions>();
    functions->library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    int major = 0, minor = 0;
    // Once it works it stays: threads of its own may outlast whoever opened it.
    if (!functions->library || !functions->find() || functions->version(&major, &minor) != 0) {
      if (functions->library) ::dlclose(functions->library);
      continue;
    }
    Nvrtc nvrtc;
    nvrtc.version_ = fmt::format("{}.{}", major, minor);
    nvrtc.functions_ = std::move(functions);
    return nvrtc;
  }
  return unsupported("code for CUDA devices needs NVIDIA's compiler libnvrtc, which is not here",
                     "install the CUDA toolkit, or say in ATTUNE_NVRTC where libnvrtc.so is");
}

const Result<Nvrtc>& Nvrtc::here() {
  static const Result<Nvrtc> library = open(usual_paths());
  return library;
}

Result<Compiled> Nvrtc::compile(const std::string& text, const std::string& architecture) const {
  const Functions& f = *functions_;
  const char* header = prelude().c_str();
  const std::string name(kPreludeName);
  const char* header_name = name.c_str();
  Program program = nullptr;
  int status = f.create(&program, text.c_str(), "kernel.cu", 1, &header, &header_name);
  if (status != 0) return unsupported(fmt::format("NVRTC {}: {}", version_, f.error_text(status)));
  const std::string arch = "--gpu-architecture=" + architecture;
  const char* options[] = {arch.c_str(), "--std=c++17", "--ptxas-options=-v"};
  status = f.compile(program, static_cast<int>(std::size(options)), options);
  Compiled compiled;
  compiled.log = f.text_of(program, f.log_size, f.log);
  if (status == 0) {
    const std::string cubin = f.text_of(program, f.cubin_size, f.cubin);
    const auto* first = reinterpret_cast<const std::byte*>(cubin.data());
    compiled.cubin.assign(first, first + cubin.size());
    compiled.ptx = f.text_of(program, f.ptx_size, f.ptx);
    while (!compiled.ptx.empty() && compiled.ptx.back() == '\0') compiled.ptx.pop_back();
  }
  f.destroy(&program);
  if (status != 0 || compiled.cubin.empty()) {
    return unsupported(fmt::format("NVRTC {} does not compile the kernel for {}: {}: {}", version_,
                                   architecture, f.error_text(status), first_errors(compiled.log)));
  }
  return compiled;
}

}  // namespace attune::cuda
