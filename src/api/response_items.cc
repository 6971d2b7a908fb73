#include "api/response_items.h"

#include <algorithm>
#include <utility>

#include "api/json_text.h"
#include "base/base64.h"

namespace samovar {
namespace {

constexpr std::string_view kResponse = "resp_";
constexpr std::string_view kReasoningMark = "samovar1:";

std::string_view prefix_of(ReplyBlock::Kind kind) {
  switch (kind) {
    case ReplyBlock::Kind::reasoning:
      return "rs_";
    case ReplyBlock::Kind::text:
      return "msg_";
    case ReplyBlock::Kind::tool_call:
      return "fc_";
  }
  return "item_";
}

// The first tokens that have a byte of `text`, and the first after them, by where each one ends.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
TokenRange covering(const std::vector<std::size_t>& ends, std::size_t at, std::size_t size) {
  const auto first = std::ranges::upper_bound(ends, at);
  const auto last = std::ranges::lower_bound(ends, at + size);
  return {static_cast<std::size_t>(first - ends.begin()),
          std::min(static_cast<std::size_t>(last - ends.begin()) + 1, ends.size())};
}

}  // namespace

std::string item_id(std::string_view response, ReplyBlock::Kind kind, std::size_t index) {
  if (response.starts_with(kResponse)) response.remove_prefix(kResponse.size());
  return std::string(prefix_of(kind)) + std::string(response) + "_" + std::to_string(index);
}

std::string response_of_item(std::string_view item) {
  for (const std::string_view prefix : {"rs_", "msg_", "fc_"}) {
    if (!item.starts_with(prefix)) continue;
    item.remove_prefix(prefix.size());
    const std::size_t end = item.rfind('_');
    if (end == std::string_view::npos || end == 0) return {};
    return std::string(kResponse) + std::string(item.substr(0, end));
  }
  return {};
}

std::string part_json(ReplyBlock::Kind kind, std::string_view text, ReasoningForm form,
                      std::string_view logprobs) {
  std::string out;
  if (kind == ReplyBlock::Kind::reasoning) {
    out =
        form.summary ? R"({"type":"summary_text","text":)" : R"({"type":"reasoning_text","text":)";
  } else {
    out = R"({"type":"output_text","annotations":[],"logprobs":)";
    out += logprobs;
    out += ",\"text\":";
  }
  append_json_string(out, text);
  return out + "}";
}

std::string item_json(const ReplyBlock& block, std::string_view id, std::string_view status,
                      ReasoningForm form, std::string_view logprobs) {
  const bool begins = status == "in_progress";
  std::string out = "{\"id\":" + json_string(id);
  if (block.kind == ReplyBlock::Kind::tool_call) {
    out += R"(,"type":"function_call","status":)" + json_string(status) + ",\"arguments\":";
    append_json_string(out, begins ? std::string_view() : std::string_view(block.text));
    out += ",\"call_id\":" + json_string(block.id) + ",\"name\":" + json_string(block.name);
    return out + "}";
  }
  const std::string parts =
      begins ? "[]" : "[" + part_json(block.kind, block.text, form, logprobs) + "]";
  if (block.kind == ReplyBlock::Kind::text) {
    out += R"(,"type":"message","status":)" + json_string(status);
    return out + ",\"content\":" + parts + R"(,"role":"assistant"})";
  }
  out += R"(,"type":"reasoning","summary":)" + (form.summary ? parts : "[]");
  if (!form.summary) out += ",\"content\":" + parts;
  if (form.encrypted) {
    out += ",\"encrypted_content\":";
    out += begins ? "\"\"" : json_string(encode_reasoning(block.text));
  }
  return out + ",\"status\":" + json_string(status) + "}";
}

std::vector<ReplyBlock> blocks_of(const ChatMessage& message) {
  std::vector<ReplyBlock> blocks;
  const auto add = [&](ReplyBlock block) {
    block.index = blocks.size();
    blocks.push_back(std::move(block));
  };
  if (!message.reasoning.empty()) {
    add({.kind = ReplyBlock::Kind::reasoning, .text = message.reasoning});
  }
  if (!message.content.empty()) add({.kind = ReplyBlock::Kind::text, .text = message.content});
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    add({.kind = ReplyBlock::Kind::tool_call,
         .call = i,
         .id = call.id,
         .name = call.name,
         .text = call.arguments});
  }
  return blocks;
}

std::string encode_reasoning(std::string_view text) {
  return std::string(kReasoningMark) + to_base64(text);
}

std::optional<std::string> decode_reasoning(std::string_view encrypted) {
  if (!encrypted.starts_with(kReasoningMark)) return std::nullopt;
  return from_base64(encrypted.substr(kReasoningMark.size()));
}

std::span<const Sampled> tokens_of_text(std::span<const Sampled> tokens, std::string_view text,
                                        const ChatPath& chat) {
  std::string said;
  std::vector<std::size_t> ends;
  for (const Sampled& sampled : tokens) {
    said += chat.piece(sampled.token);
    ends.push_back(said.size());
  }
  const std::size_t at = said.find(text);
  if (at == std::string::npos || text.empty()) return tokens;
  const TokenRange range = covering(ends, at, text.size());
  return tokens.subspan(range.begin, range.end - range.begin);
}

Position reasoning_tokens(TokenSpan reply, std::span<const ReplyBlock> blocks,
                          const ChatPath& chat) {
  const auto is_reasoning = [](const ReplyBlock& block) {
    return block.kind == ReplyBlock::Kind::reasoning && !block.text.empty();
  };
  if (!std::ranges::any_of(blocks, is_reasoning)) return 0;
  std::string said;
  std::vector<std::size_t> ends;
  for (const Token token : reply) {
    said += chat.piece(token);
    ends.push_back(said.size());
  }
  std::size_t from = 0;
  std::size_t count = 0;
  for (const ReplyBlock& block : blocks) {
    if (!is_reasoning(block)) continue;
    const std::size_t at = said.find(block.text, from);
    if (at == std::string::npos) return 0;
    const TokenRange range = covering(ends, at, block.text.size());
    count += range.end - range.begin;
    from = at + block.text.size();
  }
  return static_cast<Position>(count);
}

}  // namespace samovar
