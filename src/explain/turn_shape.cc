#include "explain/turn_shape.h"

#include <algorithm>
#include <limits>

namespace samovar {
namespace {

constexpr std::uint64_t kBytesPerToken = 4;
constexpr std::uint64_t kFrameBytes = 20;  // what a template puts around a message: about 5 tokens

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::uint64_t hash64(std::string_view text) { return checksum(bytes_of(text)).low; }

// Order matters.
std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  const std::uint64_t words[2] = {seed, value};
  return checksum({reinterpret_cast<const std::uint8_t*>(words), sizeof words}).low;
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

TextPrint exact_print(std::string_view text) {
  TextPrint print;
  if (text.empty()) return print;
  print.exact = checksum(bytes_of(text));
  print.bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(text.size(), std::numeric_limits<std::uint32_t>::max()));
  return print;
}

// Where the JSON string that begins at `at` ends: behind its closing quote.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

std::size_t word_end(std::string_view text, std::size_t at) {
  constexpr std::string_view kEnds = " \n\t\r\v\f\"{}[],:";
  return std::min(text.find_first_of(kEnds, at + 1), text.size());
}

void add_option(std::vector<OptionShape>& options, std::string name, std::string_view value,
                bool weak) {
  options.push_back({std::move(name), hash64(value), weak});
}

std::vector<OptionShape> options_of(const ChatRequest& request) {
  std::vector<OptionShape> options;
  for (const auto& [name, value] : request.template_arguments) {
    const bool own_field = name == "reasoning_effort";
    add_option(options, own_field ? name : "chat_template_kwargs." + name, value, false);
  }
  if (request.enable_thinking) {
    add_option(options, "enable_thinking", *request.enable_thinking ? "true" : "false", false);
  }
  if (request.tool_choice != ToolChoice::automatic) {
    add_option(
        options, "tool_choice",
        (request.tool_choice == ToolChoice::none ? "none" : "required ") + request.tool_choice_name,
        true);
  }
  if (!request.parallel_tool_calls) add_option(options, "parallel_tool_calls", "false", true);
  if (request.response_format.kind != ResponseFormat::Kind::text) {
    add_option(options, "response_format", "json" + request.response_format.schema, true);
  }
  std::sort(options.begin(), options.end(),
            [](const OptionShape& a, const OptionShape& b) { return a.name < b.name; });
  return options;
}

TurnShape shape_without_positions(const ChatRequest& request, const ShapeOrigin& origin) {
  TurnShape shape;
  shape.turn_id = origin.turn_id;
  if (!origin.session_key.empty()) shape.session = hash64(origin.session_key);
  shape.model = origin.model;
  if (!origin.template_id.empty()) shape.chat_template = hash64(origin.template_id);
  shape.keeps_reasoning = origin.keeps_reasoning;
  shape.options = options_of(request);
  shape.tools.reserve(request.tools.size());
  for (const Tool& tool : request.tools) {
    shape.tools.push_back({tool.name.substr(0, kToolNameBytes), print_of(tool.description),
                           print_of_json(tool.parameters)});
  }
  shape.messages.reserve(request.messages.size());
  for (const ChatMessage& message : request.messages) shape.messages.push_back(shape_of(message));
  return shape;
}

std::uint64_t tool_bytes(const TurnShape& shape) {
  std::uint64_t bytes = 0;
  for (const ToolShape& tool : shape.tools) {
    bytes += tool.name.size() + tool.description.bytes + tool.parameters.bytes + kFrameBytes;
  }
  return bytes;
}

bool is_system(Role role) { return role == Role::system || role == Role::developer; }

// Bytes of each message in the prompt: reasoning only where the template shows it, which most do
// after the last user message only.
std::vector<std::uint64_t> weights(const TurnShape& shape) {
  std::size_t last_user = 0;
  for (std::size_t i = 0; i < shape.messages.size(); ++i) {
    if (shape.messages[i].role == Role::user) last_user = i;
  }
  std::vector<std::uint64_t> result;
  result.reserve(shape.messages.size());
  for (std::size_t i = 0; i < shape.messages.size(); ++i) {
    const MessageShape& message = shape.messages[i];
    const bool shown = i > last_user || shape.keeps_reasoning == true;
    result.push_back(kFrameBytes + message.bytes() - (shown ? 0 : message.reasoning.bytes));
  }
  if (!result.empty()) result.front() += tool_bytes(shape);
  return result;
}

// Puts the messages [first, last) between `begin` and `end`, in proportion to their bytes.
void spread(const std::vector<std::uint64_t>& bytes, std::size_t first, std::size_t last,
            Position begin, Position end, std::vector<Position>& positions) {
  std::uint64_t total = 0;
  for (std::size_t i = first; i < last; ++i) total += bytes[i];
  std::uint64_t before = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double share =
        total == 0 ? 0.0 : static_cast<double>(before) / static_cast<double>(total);
    positions[i] = begin + static_cast<Position>(share * static_cast<double>(end - begin));
    before += bytes[i];
  }
}

// What of the messages stands in one message of the prompt.
struct Joins {
  bool results = false;  // tool results that follow one another, as many templates do
  bool systems = false;  // system messages with the one before them (chat/late_system.h)
};

// The first message of each group that one start stands for.
std::vector<std::size_t> groups(const TurnShape& shape, const Joins& joins) {
  std::vector<std::size_t> firsts;
  Role before = Role::assistant;  // of the group's last message that is no joined system message
  for (std::size_t i = 0; i < shape.messages.size(); ++i) {
    const Role role = shape.messages[i].role;
    if (joins.systems && is_system(role) && before != Role::assistant) continue;
    const bool joined = joins.results && role == Role::tool && before == Role::tool;
    if (!joined) firsts.push_back(i);
    before = role;
  }
  return firsts;
}

// True if message starts tell where every group begins.
bool exact_positions(const TurnShape& shape, const std::vector<std::uint64_t>& bytes,
                     std::vector<Position>& positions) {
  std::vector<Position> starts = shape.message_starts;
  while (!starts.empty() && starts.back() >= shape.history_end) starts.pop_back();
  for (const Joins& joins :
       {Joins{true, false}, Joins{false, false}, Joins{true, true}, Joins{false, true}}) {
    const std::vector<std::size_t> firsts = groups(shape, joins);
    if (firsts.empty()) return false;
    const bool tools_apart = !shape.tools.empty() && !is_system(shape.messages.front().role);
    std::size_t skip = 0;
    if (tools_apart && starts.size() == firsts.size() + 1) skip = 1;
    if (starts.size() != firsts.size() + skip) continue;
    for (std::size_t g = 0; g < firsts.size(); ++g) {
      const bool last = g + 1 == firsts.size();
      spread(bytes, firsts[g], last ? shape.messages.size() : firsts[g + 1], starts[g + skip],
             last ? shape.history_end : starts[g + 1 + skip], positions);
    }
    return true;
  }
  return false;
}

}  // namespace

TextPrint print_of(std::string_view text) {
  TextPrint print = exact_print(text);
  if (text.empty()) return print;
  if (std::none_of(text.begin(), text.end(), is_space)) {
    print.loose = hash64(text);
    return print;
  }
  std::string dense;
  dense.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(dense),
               [](char c) { return !is_space(c); });
  print.loose = hash64(dense);
  return print;
}

TextPrint print_of_json(std::string_view text) {
  TextPrint print = exact_print(text);
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    constexpr std::string_view kMarks = "{}[],:";
    std::size_t end = at + 1;
    if (text[at] == '"') {
      end = string_end(text, at);
    } else if (kMarks.find(text[at]) == std::string_view::npos) {
      end = word_end(text, at);
    }
    print.loose += hash64(text.substr(at, end - at));  // a sum: order does not matter
    at = end;
  }
  return print;
}

std::uint64_t MessageShape::identity() const {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(role), content.loose);
  for (const CallShape& call : calls) hash = mix(mix(hash, call.name.loose), call.arguments.loose);
  return hash;
}

std::uint64_t MessageShape::bytes() const {
  std::uint64_t sum = std::uint64_t{content.bytes} + reasoning.bytes;
  for (const CallShape& call : calls) sum += std::uint64_t{call.name.bytes} + call.arguments.bytes;
  return sum;
}

MessageShape shape_of(const ChatMessage& message) {
  MessageShape shape;
  shape.role = message.role;
  shape.content = print_of(message.content);
  shape.reasoning = print_of(message.reasoning);
  shape.name = print_of(message.name);
  shape.call_id = print_of(message.tool_call_id);
  shape.calls.reserve(message.tool_calls.size());
  for (const ToolCall& call : message.tool_calls) {
    shape.calls.push_back({print_of(call.name), print_of_json(call.arguments), print_of(call.id)});
  }
  return shape;
}

TurnShape make_shape(const ChatRequest& request, const Prompt& prompt, const ShapeOrigin& origin) {
  TurnShape shape = shape_without_positions(request, origin);
  shape.prompt_tokens = prompt.size();
  shape.system_end = prompt.system_end;
  shape.history_end = prompt.primer_start;
  shape.message_starts = prompt.message_starts;
  return shape;
}

TurnShape guess_shape(const ChatRequest& request, const ShapeOrigin& origin) {
  TurnShape shape = shape_without_positions(request, origin);
  shape.estimated = true;
  std::uint64_t sum = shape.messages.empty() ? tool_bytes(shape) : 0;
  bool leading = true;
  const std::vector<std::uint64_t> bytes = weights(shape);
  const auto tokens = [](std::uint64_t count) {
    constexpr std::uint64_t kMost = std::numeric_limits<Position>::max();
    return static_cast<Position>(std::min(count / kBytesPerToken, kMost));
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (leading && !is_system(shape.messages[i].role)) {
      leading = false;
      shape.system_end = tokens(i == 0 ? tool_bytes(shape) : sum);
    }
    sum += bytes[i];
  }
  shape.history_end = tokens(sum);
  shape.prompt_tokens = tokens(sum + kFrameBytes);
  return shape;
}

void add_reply(TurnShape& shape, const ChatMessage& reply, Position tokens, bool complete) {
  shape.reply = ReplyShape{shape_of(reply), tokens, complete};
}

std::vector<Position> message_positions(const TurnShape& shape) {
  const std::size_t count = shape.messages.size();
  std::vector<Position> positions(count + 1, 0);
  positions.back() = shape.history_end;
  const std::vector<std::uint64_t> bytes = weights(shape);
  if (exact_positions(shape, bytes, positions)) return positions;
  std::size_t leading = 0;
  while (leading < count && is_system(shape.messages[leading].role)) ++leading;
  const Position system_end = std::clamp(shape.system_end, 0, shape.history_end);
  spread(bytes, 0, leading, 0, system_end, positions);
  spread(bytes, leading, count, system_end, shape.history_end, positions);
  return positions;
}

}  // namespace samovar
