#include "base/hash.h"

#include <openssl/evp.h>

#include <cassert>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace samovar {
namespace {

// SHA-256 on valid contexts fails only without memory.
void require([[maybe_unused]] int answer) { assert(answer == 1); }

}  // namespace

struct Sha256Hasher::State {
  State() : context(EVP_MD_CTX_new()) { assert(context != nullptr); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* context;
};

Sha256Hasher::Sha256Hasher() : state_(std::make_unique<State>()) {
  require(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}

Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

void Sha256Hasher::update(Bytes bytes) {
  require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

Sha256 Sha256Hasher::digest() const {
  const State copy;
  require(EVP_MD_CTX_copy_ex(copy.context, state_->context));
  Sha256 hash;
  require(EVP_DigestFinal_ex(copy.context, hash.data(), nullptr));
  return hash;
}

Sha256 sha256(Bytes bytes) {
  Sha256 hash;
  require(EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr));
  return hash;
}

Checksum checksum(Bytes bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace samovar
