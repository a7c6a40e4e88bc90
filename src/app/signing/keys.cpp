#include "app/signing/keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/atomic_file.h"

namespace attune::signing {
namespace {

using Bytes = std::span<const std::byte>;
using Key = std::shared_ptr<EVP_PKEY>;

constexpr std::size_t kMostBytes = 64 << 10;  // of a file of keys

struct Free {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

Key owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }
bool is_ed25519(const Key& key) { return EVP_PKEY_is_a(key.get(), "ED25519") == 1; }

const unsigned char* unsigned_bytes(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

class File {
 public:
  File(const std::string& path, int flags, ::mode_t mode)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  Status write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return write_error(path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return ::fsync(descriptor_) == 0 ? Status() : write_error(path_, errno);
  }

 private:
  std::string path_;
  int descriptor_;
};

// The PEM text of a file, and its mode.
Result<Bio> read_pem(const std::string& path, ::mode_t& mode) {
  const File file(path, O_RDONLY, 0);
  struct stat status = {};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0) {
    return Error{errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 fmt::format("cannot read the key '{}': {}", path, std::strerror(errno)),
                 "'attune key new FILE' makes a key"};
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > kMostBytes) {
    return invalid(fmt::format("'{}' is no key", path), "'attune key new FILE' makes one");
  }
  mode = status.st_mode;
  Bio bio(BIO_new(BIO_s_secmem()));
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(file.descriptor(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    BIO_write(bio.get(), buffer, static_cast<int>(count));
  }
  OPENSSL_cleanse(buffer, sizeof buffer);
  return bio;
}

// Keys under a password are not read: nobody is asked for it.
int no_password(char*, int, int, void*) { return -1; }

// New, with these rights.
Status write_new(const std::string& path, ::mode_t mode, BIO* pem) {
  const File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file.is_open() && errno == EEXIST) {
    return invalid(fmt::format("'{}' exists, and keys are not overwritten", path),
                   "choose another name");
  }
  if (!file.is_open()) return write_error(path, errno);
  char* text = nullptr;
  const long size = BIO_get_mem_data(pem, &text);
  const Status written = file.write({text, static_cast<std::size_t>(size)});
  if (!written.ok()) ::unlink(path.c_str());
  return written;
}

Result<std::vector<std::byte>> sign(const Key& key, Bytes bytes) {
  std::vector<std::byte> signature(runtime::kSignatureBytes);
  std::size_t size = signature.size();
  const Context context(EVP_MD_CTX_new());
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     unsigned_bytes(bytes), bytes.size()) != 1 ||
      size != signature.size()) {
    return Error{ErrorCode::Exhausted, fmt::format("cannot sign {} bytes", bytes.size()),
                 "free memory on this machine"};
  }
  return signature;
}

bool is_signed(const Key& key, Bytes bytes, Bytes signature) {
  const Context context(EVP_MD_CTX_new());
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), unsigned_bytes(signature), signature.size(),
                          unsigned_bytes(bytes), bytes.size()) == 1;
}

}  // namespace

std::string public_path(const std::string& path) { return path + ".pub"; }

Status new_key(const std::string& path) {
  const Key key = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Bio secret(BIO_new(BIO_s_secmem())), open(BIO_new(BIO_s_mem()));
  if (key == nullptr ||
      PEM_write_bio_PKCS8PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) != 1 ||
      PEM_write_bio_PUBKEY(open.get(), key.get()) != 1) {
    return Error{ErrorCode::Io, "the system has no random numbers for a key", "try again"};
  }
  ATTUNE_RETURN_IF_ERROR(write_new(path, 0600, secret.get()));
  const Status written = write_new(public_path(path), 0644, open.get());
  if (!written.ok()) ::unlink(path.c_str());
  return written;
}

Result<runtime::SignBytes> signer(const std::string& path) {
  ::mode_t mode = 0;
  ATTUNE_ASSIGN(const Bio pem, read_pem(path, mode));
  const Key key = owned(PEM_read_bio_PrivateKey(pem.get(), nullptr, no_password, nullptr));
  if (key == nullptr || !is_ed25519(key)) {
    return invalid(fmt::format("'{}' holds no private Ed25519 key without a password", path),
                   "'attune key new FILE' makes one");
  }
  if ((mode & 077) != 0) {
    return Error{ErrorCode::Io,
                 fmt::format("the private key '{}' has the mode {:04o}, others may use it", path,
                             mode & 07777),
                 fmt::format("chmod 600 {}", path)};
  }
  return runtime::SignBytes([key](Bytes bytes) { return sign(key, bytes); });
}

Result<runtime::VerifyBytes> verifier(const std::string& path) {
  ::mode_t mode = 0;
  ATTUNE_ASSIGN(const Bio pem, read_pem(path, mode));
  std::vector<Key> keys;
  while (EVP_PKEY* key = PEM_read_bio_PUBKEY(pem.get(), nullptr, no_password, nullptr)) {
    keys.push_back(owned(key));
    if (!is_ed25519(keys.back())) keys.clear();
    if (keys.empty()) break;
  }
  if (keys.empty()) {
    return invalid(fmt::format("'{}' holds no public Ed25519 key", path),
                   "name the file that 'attune key new FILE' wrote beside it, FILE.pub");
  }
  return runtime::VerifyBytes([keys, path](Bytes bytes, Bytes signature) -> Status {
    for (const Key& key : keys) {
      if (is_signed(key, bytes, signature)) return {};
    }
    return Error{
        ErrorCode::Corrupt,
        fmt::format("its signature is not by a key of '{}', or it was altered since", path),
        "get it again from whom you trust, or sign it anew"};
  });
}

}  // namespace attune::signing
