// Goal: identities are the formula of S2 and nothing else, and their text form is one-to-one.
// Method: a known answer from another SHA-256, and cutting runs of tokens anywhere.
#include "store/identity.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(Identity, IsTheHashOfParentModelAndTokens) {
  // SHA-256 of 32 zeros, 32 bytes 0x11, and the ids as 32-bit little-endian numbers.
  Fingerprint model;
  model.bytes.fill(0x11);
  const Tokens tokens = {1, 256, 151643};
  EXPECT_EQ(identity_of(model, {}, tokens).hex(),
            "a1629cd1cfd90cad8175a7130809e97d4b9928d37bb74bc143f21148e0355b94");
}

TEST(Identity, DependsOnEverythingBefore) {
  Fingerprint model;
  model.bytes.fill(0x11);
  Fingerprint other = model;
  other.bytes[31] ^= 1;
  const Identity parent = identity_of(model, {}, Tokens{1, 2});
  const Identity identity = identity_of(model, parent, Tokens{3});
  EXPECT_NE(identity, identity_of(other, parent, Tokens{3}));
  EXPECT_NE(identity, identity_of(model, {}, Tokens{3}));
  EXPECT_NE(identity, identity_of(model, parent, Tokens{4}));
  EXPECT_NE(identity, identity_of(model, {}, Tokens{1, 2, 3}));  // cut elsewhere
}

TEST(PrefixHasher, GivesTheSameInWhateverPiecesTokensCome) {
  Fingerprint model;
  model.bytes.fill(0x22);
  const Tokens tokens = {5, 6, 7, 8, 9, 10, 11};
  for (std::size_t step = 1; step <= tokens.size(); ++step) {
    PrefixHasher hasher(model, {});
    for (std::size_t at = 0; at < tokens.size(); at += step) {
      const std::size_t end = std::min(at + step, tokens.size());
      hasher.append(TokenSpan(tokens).subspan(at, end - at));
      EXPECT_EQ(hasher.identity(), identity_of(model, {}, TokenSpan(tokens).first(end)));
    }
  }
}

TEST(Identity, HasOneTextForm) {
  const std::string text = "00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210";
  const auto identity = Identity::from_hex(text);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->hex(), text);
  EXPECT_FALSE(Identity::from_hex(text.substr(1)));
  EXPECT_FALSE(Identity::from_hex(text + "0"));
  EXPECT_FALSE(Identity::from_hex("A" + text.substr(1)));
  EXPECT_FALSE(Identity::from_hex("g" + text.substr(1)));
  EXPECT_FALSE(Identity::from_hex(""));
  EXPECT_TRUE(Identity{}.is_root());
  EXPECT_FALSE(identity->is_root());
}

TEST(SessionId, HasOneTextForm) {
  const auto session = SessionId::from_hex("00112233445566778899aabbccddeeff");
  ASSERT_TRUE(session);
  EXPECT_EQ(session->hex(), "00112233445566778899aabbccddeeff");
  EXPECT_TRUE(session->known());
  EXPECT_FALSE(SessionId{}.known());
  EXPECT_FALSE(SessionId::from_hex("0011"));
}

TEST(SessionId, OfAKeyIsTheHashThatTheDocumentationNames) {
  EXPECT_EQ(session_of_key("abc").hex(), "871ee929afef7727f9d7aecd2331ccc1");
  EXPECT_EQ(session_of_key("abc"), session_of_text("key abc"));
  EXPECT_NE(session_of_key("abc"), session_of_key("abd"));
}

}  // namespace
}  // namespace samovar
