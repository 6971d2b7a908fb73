#include "tools/mkmodel/vocabulary.h"

#include <array>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace samovar::mkmodel {
namespace {

constexpr std::int32_t kNormal = 1;
constexpr std::int32_t kControl = 3;
constexpr std::int32_t kUserDefined = 4;

constexpr std::uint32_t kFirstSpecial = 151'643;  // <|endoftext|>
constexpr std::uint32_t kEndOffset = 2;           // <|im_end|>

// In the order of their ids. What is not "<|...|>" is text that a client may see: user-defined.
constexpr std::array<std::string_view, 26> kSpecials = {"<|endoftext|>",
                                                        "<|im_start|>",
                                                        "<|im_end|>",
                                                        "<|object_ref_start|>",
                                                        "<|object_ref_end|>",
                                                        "<|box_start|>",
                                                        "<|box_end|>",
                                                        "<|quad_start|>",
                                                        "<|quad_end|>",
                                                        "<|vision_start|>",
                                                        "<|vision_end|>",
                                                        "<|vision_pad|>",
                                                        "<|image_pad|>",
                                                        "<|video_pad|>",
                                                        "<tool_call>",
                                                        "</tool_call>",
                                                        "<|fim_prefix|>",
                                                        "<|fim_middle|>",
                                                        "<|fim_suffix|>",
                                                        "<|fim_pad|>",
                                                        "<|repo_name|>",
                                                        "<|file_sep|>",
                                                        "<tool_response>",
                                                        "</tool_response>",
                                                        "<think>",
                                                        "</think>"};

std::int32_t special_type(std::string_view text) {
  return text.starts_with("<|") ? kControl : kUserDefined;
}

std::vector<std::string> strings(const gguf_context* file, std::int64_t key) {
  std::vector<std::string> all(gguf_get_arr_n(file, key));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = gguf_get_arr_str(file, key, i);
  return all;
}

// Drops what is beyond the first `base` tokens, and the merges that need it.
void cut(Vocabulary& vocabulary, std::uint32_t base) {
  vocabulary.tokens.resize(base);
  vocabulary.types.resize(base);
  const std::unordered_set<std::string> kept(vocabulary.tokens.begin(), vocabulary.tokens.end());
  std::erase_if(vocabulary.merges, [&](const std::string& merge) {
    const std::size_t space = merge.find(' ', 1);
    return !kept.contains(merge.substr(0, space)) || !kept.contains(merge.substr(space + 1)) ||
           !kept.contains(merge.substr(0, space) + merge.substr(space + 1));
  });
}

void put_specials(Vocabulary& vocabulary, std::uint32_t first) {
  if (vocabulary.tokens.size() < first + kSpecials.size()) {
    vocabulary.tokens.resize(first + kSpecials.size());
    vocabulary.types.resize(first + kSpecials.size(), kNormal);
  }
  for (std::size_t i = 0; i < kSpecials.size(); ++i) {
    vocabulary.tokens[first + i] = kSpecials[i];
    vocabulary.types[first + i] = special_type(kSpecials[i]);
  }
  vocabulary.padding = first;
  vocabulary.end = first + kEndOffset;
}

}  // namespace

Result<Vocabulary> read_vocabulary(const std::string& path, std::uint32_t size) {
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> file(
      gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}), gguf_free);
  const std::string remedy = "It must be llama.cpp's ggml-vocab-qwen35.gguf";
  if (!file) {
    return fail(ErrorKind::not_found, "cannot read a GGUF from " + path, "--vocab", remedy);
  }
  const std::int64_t tokens = gguf_find_key(file.get(), "tokenizer.ggml.tokens");
  const std::int64_t types = gguf_find_key(file.get(), "tokenizer.ggml.token_type");
  const std::int64_t merges = gguf_find_key(file.get(), "tokenizer.ggml.merges");
  if (tokens < 0 || types < 0 || merges < 0) {
    return fail(ErrorKind::invalid_argument, path + " holds no BPE vocabulary", "--vocab", remedy);
  }
  Vocabulary vocabulary;
  vocabulary.tokens = strings(file.get(), tokens);
  vocabulary.merges = strings(file.get(), merges);
  const auto* type = static_cast<const std::int32_t*>(gguf_get_arr_data(file.get(), types));
  vocabulary.types.assign(type, type + gguf_get_arr_n(file.get(), types));
  if (vocabulary.tokens.size() < kFirstSpecial + kSpecials.size() ||
      vocabulary.types.size() != vocabulary.tokens.size() ||
      vocabulary.tokens[kFirstSpecial] != kSpecials[0]) {
    return fail(ErrorKind::invalid_argument, path + " is not Qwen's list", "--vocab", remedy);
  }
  if (size == 0) {
    put_specials(vocabulary, kFirstSpecial);
  } else {
    const auto base = static_cast<std::uint32_t>(size - kSpecials.size());
    cut(vocabulary, base);
    put_specials(vocabulary, base);
  }
  return vocabulary;
}

void put_vocabulary(gguf_context* file, const Vocabulary& vocabulary,
                    const std::string& chat_template) {
  const auto put_strings = [&](const char* key, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    pointers.reserve(values.size());
    for (const std::string& value : values) pointers.push_back(value.c_str());
    gguf_set_arr_str(file, key, pointers.data(), pointers.size());
  };
  gguf_set_val_str(file, "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(file, "tokenizer.ggml.pre", "qwen35");
  put_strings("tokenizer.ggml.tokens", vocabulary.tokens);
  gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, vocabulary.types.data(),
                    vocabulary.types.size());
  put_strings("tokenizer.ggml.merges", vocabulary.merges);
  gguf_set_val_u32(file, "tokenizer.ggml.eos_token_id", vocabulary.end);
  gguf_set_val_u32(file, "tokenizer.ggml.padding_token_id", vocabulary.padding);
  gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", false);
  gguf_set_val_str(file, "tokenizer.chat_template", chat_template.c_str());
}

}  // namespace samovar::mkmodel
