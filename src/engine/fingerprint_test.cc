// Goal: two engines have one fingerprint exactly if they can exchange state.
#include "engine/fingerprint.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/engine_testing.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

EngineOptions tiny(const std::string& name) {
  return small_options(fmt::format("{}/{}.gguf", SAMOVAR_MODELS, name));
}

StateFormat format_of(const EngineOptions& options) {
  const auto engine = open_or_fail(options);
  return engine == nullptr ? StateFormat{} : engine->state_format();
}

TEST(Fingerprint, IsTheSameForTheSameModelWhateverTheContextThreadsAndBatch) {
  const StateFormat one = format_of(tiny("tiny-qwen35moe"));
  EngineOptions other = tiny("tiny-qwen35moe");
  other.cells = 4096;
  other.sequences = 3;
  other.parallel = 2;
  other.ubatch = 256;
  other.threads = 2;
  const StateFormat two = format_of(other);
  EXPECT_EQ(one.fingerprint, two.fingerprint);
  EXPECT_EQ(one.layout, two.layout);
}

TEST(Fingerprint, DiffersBetweenModels) {
  EXPECT_NE(format_of(tiny("tiny-qwen35moe")).fingerprint,
            format_of(tiny("tiny-qwen35")).fingerprint);
}

TEST(Fingerprint, DiffersWithTheTypesOfKAndVAndSoDoesTheLayout) {
  const StateFormat plain = format_of(tiny("tiny-qwen3"));
  EngineOptions quantised = tiny("tiny-qwen3");
  quantised.type_k = "q8_0";
  const StateFormat other = format_of(quantised);
  EXPECT_NE(plain.fingerprint, other.fingerprint);
  EXPECT_NE(plain.layout, other.layout);
}

TEST(Fingerprint, DiffersWithTheWindowsCells) {
  EngineOptions small_window = tiny("tiny-gemma3");
  small_window.swa_full = false;
  EXPECT_NE(format_of(tiny("tiny-gemma3")).fingerprint, format_of(small_window).fingerprint);
}

TEST(Fingerprint, DiffersWithTheRotationOfQuantisedState) {
  const StateFormat rotated = format_of(tiny("tiny-qwen3"));
  setenv("LLAMA_ATTN_ROT_DISABLE", "1", 1);
  const StateFormat plain = format_of(tiny("tiny-qwen3"));
  unsetenv("LLAMA_ATTN_ROT_DISABLE");
  EXPECT_NE(rotated.fingerprint, plain.fingerprint);
}

// A re-quantised or fine-tuned model under the same name.
TEST(Fingerprint, DiffersWhenWeightsOrMetadataDo) {
  const TemporaryFolder folder;
  const std::string copy = folder.at("model.gguf");
  std::filesystem::copy_file(tiny("tiny-qwen3").model_path, copy);
  const StateFormat same = format_of(small_options(copy));
  EXPECT_EQ(same.fingerprint, format_of(tiny("tiny-qwen3")).fingerprint);
  {
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1000, std::ios::end);  // the last sample covers it
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-1000, std::ios::end);
    file.put(byte);
  }
  EXPECT_NE(format_of(small_options(copy)).fingerprint, same.fingerprint);
}

}  // namespace
}  // namespace samovar::testing
