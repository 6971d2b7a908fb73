// One reading. libllama-common's common_chat_parse() does the same, but throws on text that does
// not fit, drops text after a finished format silently, and does not say how far into the text its
// result reaches. All three matter here: no byte of a reply may be lost. So the parser is driven
// directly.
#include "chat/reply_syntax.h"

#include <llama-common/chat-peg-parser.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>

namespace samovar {
namespace {

using Builder = common_chat_peg_builder;

std::unique_ptr<common_chat_peg_mapper> make_mapper(common_chat_format format,
                                                    common_chat_msg& message) {
  switch (format) {
    case COMMON_CHAT_FORMAT_PEG_GEMMA4:
      return std::make_unique<common_chat_peg_gemma4_mapper>(message);
    case COMMON_CHAT_FORMAT_PEG_MINIMAX_M3:
      return std::make_unique<common_chat_peg_minimax_m3_mapper>(message);
    default:
      return std::make_unique<common_chat_peg_mapper>(message);
  }
}

// Fills text_end, call_ends and ends_in_reasoning. `skipped` bytes of the input are not the
// reply's.
void measure(const common_peg_ast_arena& arena, const common_peg_parse_result& result,
             std::size_t skipped, Reading& reading) {
  arena.visit(result, [&](const common_peg_ast_node& node) {
    const std::size_t end = node.end > skipped ? node.end - skipped : 0;
    const std::string_view tag = node.tag;
    if (tag == Builder::REASONING || tag == Builder::CONTENT) {
      reading.text_end = std::max(reading.text_end, end);
      reading.ends_in_reasoning = tag == Builder::REASONING;
    } else if (tag == Builder::TOOL_OPEN) {
      reading.call_ends.push_back(end);
      reading.ends_in_reasoning = false;
    } else if (tag.starts_with("tool-") && !reading.call_ends.empty()) {
      reading.call_ends.back() = std::max(reading.call_ends.back(), end);
    }
  });
}

Reading read(const ReplySyntax& syntax, const std::string& text) {
  Reading reading;
  common_peg_parse_context context(syntax.generation_prompt + text, COMMON_PEG_PARSE_FLAG_LENIENT);
  const common_peg_parse_result result = syntax.parser.parse(context);
  if (result.fail()) return reading;

  common_chat_msg message;
  make_mapper(syntax.format, message)->from_ast(context.ast, result);
  const std::size_t skipped = syntax.generation_prompt.size();
  measure(context.ast, result, skipped, reading);
  reading.verdict = result.success() ? Reading::Verdict::complete : Reading::Verdict::open;
  reading.consumed = result.end > skipped ? result.end - skipped : 0;
  reading.reasoning = std::move(message.reasoning_content);
  reading.content = std::move(message.content);
  for (common_chat_tool_call& call : message.tool_calls) {
    reading.calls.push_back({std::move(call.id), std::move(call.name), std::move(call.arguments)});
  }
  return reading;
}

common_peg_arena load_parser(const std::string& saved) {
  if (saved.empty()) {
    return build_chat_peg_parser(
        [](Builder& builder) { return builder.content(builder.rest()) + builder.end(); });
  }
  common_peg_arena parser;
  parser.load(saved);
  return parser;
}

}  // namespace

ReplySyntax::ReplySyntax(common_chat_format reply_format, const std::string& prompt,
                         const std::string& saved_parser)
    : format(reply_format),
      // Without a parser everything is content, and nothing stands before it.
      generation_prompt(saved_parser.empty() ? std::string() : prompt),
      parser(load_parser(saved_parser)),
      saved{static_cast<int>(reply_format), prompt, saved_parser, {}} {}

std::size_t Reading::covered(std::size_t calls_counted) const {
  std::size_t end = text_end;
  for (std::size_t i = 0; i < std::min(calls_counted, call_ends.size()); ++i) {
    end = std::max(end, call_ends[i]);
  }
  return end;
}

Reading read_reply(const ReplySyntax& syntax, const std::string& text) {
  try {
    return read(syntax, text);
  } catch (const std::exception&) {
    return {};  // rejected
  }
}

}  // namespace samovar
