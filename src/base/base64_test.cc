// Goal: bytes survive, and nothing but what was written is read. Method: the RFC's vectors, every
// byte, a text longer than one piece, and spellings that OpenSSL alone would take.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(Base64, TheVectorsOfTheRfc) {
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteAndManyPieces) {
  std::string bytes;
  for (int i = 0; i < (7 << 20) + 1; ++i) bytes += static_cast<char>(i * 31 + i / 256);
  EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
}

TEST(Base64, OnlyWhatWasWritten) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zh==", " Zg==", "Zg==\n", "Zg=a",
                           "Z*==", "Zm9vZg==Zm9v", "Zm8=Zg=="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace samovar
