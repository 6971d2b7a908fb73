// Goal: both hashes are the published ones, whatever the pieces they get. Method: known answers
// (NIST's examples; xxHash's own sanity test, which covers each of its length classes).
#include "base/hash.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/hex_text.h"

namespace samovar {
namespace {

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hex_text(sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_text(sha256(bytes_of("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_text(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_text(sha256(bytes_of(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheHashOfTheWhole) {
  const std::string text = "one two three four";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256Hasher hasher;
    hasher.update(bytes_of(std::string_view(text).substr(0, cut)));
    hasher.update(bytes_of(std::string_view(text).substr(cut)));
    EXPECT_EQ(hasher.digest(), sha256(bytes_of(text))) << cut;
  }
}

TEST(Sha256, ADigestDoesNotEndTheHasher) {
  Sha256Hasher hasher;
  EXPECT_EQ(hasher.digest(), sha256({}));
  hasher.update(bytes_of("ab"));
  EXPECT_EQ(hasher.digest(), sha256(bytes_of("ab")));
  EXPECT_EQ(hasher.digest(), sha256(bytes_of("ab")));
  Sha256Hasher moved = std::move(hasher);
  moved.update(bytes_of("c"));
  EXPECT_EQ(moved.digest(), sha256(bytes_of("abc")));
}

// The input of xxHash's sanity test.
std::vector<std::uint8_t> sanity_input(std::size_t size) {
  std::vector<std::uint8_t> input(size);
  std::uint64_t state = 2654435761U;
  for (std::uint8_t& byte : input) {
    byte = static_cast<std::uint8_t>(state >> 56);
    state *= 11400714785074694797ULL;
  }
  return input;
}

TEST(Checksum, KnownAnswers) {
  struct Known {
    std::size_t size;
    Checksum sum;
  };
  const std::vector<Known> table = {
      {0, {0x6001C324468D497F, 0x99AA06D3014798D8}},
      {1, {0xC44BDFF4074EECDB, 0xA6CD5E9392000F6A}},
      {6, {0x3E7039BDDA43CFC6, 0x082AFE0B8162D12A}},
      {12, {0x061A192713F69AD9, 0x6E3EFD8FC7802B18}},
      {24, {0x1E7044D28B1B901D, 0x0CE966E4678D3761}},
      {48, {0xF942219AED80F67B, 0xA002AC4E5478227E}},
      {81, {0x5E8BAFB9F95FB803, 0x4952F58181AB0042}},
      {222, {0xF1AEBD597CEC6B3A, 0x337E09641B948717}},
      {403, {0xCDEB804D65C6DEA4, 0x1B6DE21E332DD73D}},
      {512, {0x617E49599013CB6B, 0x18D2D110DCC9BCA1}},
      {2048, {0xDD59E2C3A5F038E0, 0xF736557FD47073A5}},
      {2240, {0x6E73A90539CF2948, 0xCCB134FBFA7CE49D}},
      {2367, {0xCB37AEB9E5D361ED, 0xE89C0F6FF369B427}},
  };
  for (const Known& known : table) {
    EXPECT_EQ(checksum(sanity_input(known.size)), known.sum) << known.size;
  }
}

TEST(Checksum, SeesEveryBit) {
  std::vector<std::uint8_t> bytes = sanity_input(300);
  const Checksum whole = checksum(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto flip = static_cast<std::uint8_t>(1U << (bit % 8));
    bytes[bit / 8] ^= flip;
    EXPECT_FALSE(checksum(bytes) == whole) << bit;
    bytes[bit / 8] ^= flip;
  }
}

}  // namespace
}  // namespace samovar
