// Vocabulary: Qwen's byte-level BPE list from llama.cpp's ggml-vocab-qwen35.gguf, with Qwen3's 26
// special tokens made real (the file holds [PADxxxx] in their place) and, for the small shapes,
// cut.
//
// A cut to N keeps the 256 byte tokens and the lowest merges (a BPE list is in merge order, so
// every kept merge is made of kept tokens) and puts the special tokens at the end: ids N-26 .. N-1.
#pragma once

#include <gguf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace samovar::mkmodel {

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;  // libllama's: 1 normal, 3 control, 4 user-defined
  std::vector<std::string> merges;  // "left right", lowest first
  std::uint32_t end = 0;            // <|im_end|>
  std::uint32_t padding = 0;        // <|endoftext|>
};

// `size` = 0 keeps the whole list.
[[nodiscard]] Result<Vocabulary> read_vocabulary(const std::string& path, std::uint32_t size);

void put_vocabulary(gguf_context* file, const Vocabulary& vocabulary,
                    const std::string& chat_template);

}  // namespace samovar::mkmodel
