#include "explain/shape_codec.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/little_endian.h"

namespace samovar {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kStringBytesMax = 1024;  // ids, names, fingerprints
constexpr std::size_t kOptionsMax = 4096;
constexpr std::size_t kStartsMax = 4 * limits::messages_max;

class Writer {
 public:
  void byte(std::uint8_t value) { out_.push_back(value); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void position(Position value) { number(static_cast<std::uint64_t>(std::max(value, 0))); }
  void fixed(std::uint64_t value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof value);
    store_le(out_.data() + at, value);
  }
  void string(const std::string& text) {
    const std::size_t size = std::min(text.size(), kStringBytesMax);
    number(size);
    out_.insert(out_.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
  }
  void print(const TextPrint& print) {
    number(print.bytes);
    if (print.empty()) return;
    fixed(print.exact.low);
    fixed(print.exact.high);
    fixed(print.loose);
  }
  void message(const MessageShape& message) {
    byte(static_cast<std::uint8_t>(message.role));
    print(message.content);
    print(message.reasoning);
    print(message.name);
    print(message.call_id);
    number(message.calls.size());
    for (const CallShape& call : message.calls) {
      print(call.name);
      print(call.arguments);
      print(call.id);
    }
  }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  std::vector<std::uint8_t> out_;
};

// Reads on after a mistake without harm; ok() tells at the end.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return left_.empty(); }
  void wrong() { ok_ = false; }

  std::uint8_t byte() {
    if (!ok_ || left_.empty()) {
      ok_ = false;
      return 0;
    }
    const std::uint8_t value = left_.front();
    left_ = left_.subspan(1);
    return value;
  }
  std::uint64_t number(std::uint64_t most) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7FU} << shift;
      if ((part & 0x80U) != 0) continue;
      const bool padded = part == 0 && shift > 0;  // one number, one spelling
      if (padded || value > most || (shift == 63 && part > 1)) break;
      return ok_ ? value : 0;
    }
    ok_ = false;
    return 0;
  }
  Position position() {
    return static_cast<Position>(number(std::numeric_limits<Position>::max()));
  }
  bool flag() { return number(1) == 1; }
  std::uint64_t fixed() {
    if (!ok_ || left_.size() < sizeof(std::uint64_t)) {
      ok_ = false;
      return 0;
    }
    const auto value = load_le<std::uint64_t>(left_.data());
    left_ = left_.subspan(sizeof value);
    return value;
  }
  // How many elements follow, each of which takes at least `smallest` bytes.
  std::size_t count(std::size_t most, std::size_t smallest) {
    const std::uint64_t value = number(most);
    if (value * smallest > left_.size()) ok_ = false;
    return ok_ ? static_cast<std::size_t>(value) : 0;
  }
  std::string string() {
    const std::size_t size = count(kStringBytesMax, 1);
    std::string text(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(size));
    left_ = left_.subspan(size);
    return text;
  }
  TextPrint print() {
    TextPrint print;
    print.bytes = static_cast<std::uint32_t>(number(std::numeric_limits<std::uint32_t>::max()));
    if (print.empty()) return print;
    print.exact.low = fixed();
    print.exact.high = fixed();
    print.loose = fixed();
    return print;
  }
  MessageShape message() {
    MessageShape message;
    message.role = static_cast<Role>(number(static_cast<std::uint64_t>(Role::tool)));
    message.content = print();
    message.reasoning = print();
    message.name = print();
    message.call_id = print();
    const std::size_t calls = count(limits::tools_max, 3);
    message.calls.reserve(calls);
    for (std::size_t i = 0; i < calls && ok_; ++i) {
      CallShape call;
      call.name = print();
      call.arguments = print();
      call.id = print();
      message.calls.push_back(call);
    }
    return message;
  }

 private:
  Bytes left_;
  bool ok_ = true;
};

void write_options_and_tools(Writer& out, const TurnShape& shape) {
  out.number(shape.options.size());
  for (const OptionShape& option : shape.options) {
    out.string(option.name);
    out.fixed(option.value);
    out.number(option.weak ? 1 : 0);
  }
  out.number(shape.tools.size());
  for (const ToolShape& tool : shape.tools) {
    out.string(tool.name);
    out.print(tool.description);
    out.print(tool.parameters);
  }
}

void read_options_and_tools(Reader& in, TurnShape& shape) {
  for (std::size_t left = in.count(kOptionsMax, 10); left > 0 && in.ok(); --left) {
    OptionShape option;
    option.name = in.string();
    option.value = in.fixed();
    option.weak = in.flag();
    shape.options.push_back(std::move(option));
  }
  for (std::size_t left = in.count(limits::tools_max, 3); left > 0 && in.ok(); --left) {
    ToolShape tool;
    tool.name = in.string();
    tool.description = in.print();
    tool.parameters = in.print();
    shape.tools.push_back(std::move(tool));
  }
}

void write_positions(Writer& out, const TurnShape& shape) {
  out.position(shape.prompt_tokens);
  out.position(shape.system_end);
  out.position(shape.history_end);
  out.number(shape.estimated ? 1 : 0);
  out.number(shape.message_starts.size());
  Position last = 0;
  for (const Position start : shape.message_starts) {
    out.position(start - last);
    last = start;
  }
}

void read_positions(Reader& in, TurnShape& shape) {
  shape.prompt_tokens = in.position();
  shape.system_end = in.position();
  shape.history_end = in.position();
  shape.estimated = in.flag();
  if (shape.system_end > shape.prompt_tokens || shape.history_end > shape.prompt_tokens) {
    in.wrong();
  }
  Position last = 0;
  for (std::size_t left = in.count(kStartsMax, 1); left > 0 && in.ok(); --left) {
    const Position step = in.position();
    if (step > shape.prompt_tokens - last) {
      in.wrong();
      return;
    }
    last += step;
    shape.message_starts.push_back(last);
  }
}

}  // namespace

std::vector<std::uint8_t> encode_shape(const TurnShape& shape) {
  Writer out;
  out.byte(kVersion);
  out.string(shape.turn_id);
  out.fixed(shape.session);
  out.string(shape.model);
  out.fixed(shape.chat_template);
  out.number(shape.keeps_reasoning ? 1U + (*shape.keeps_reasoning ? 1U : 0U) : 0U);
  write_options_and_tools(out, shape);
  write_positions(out, shape);
  out.number(shape.messages.size());
  for (const MessageShape& message : shape.messages) out.message(message);
  out.number(shape.reply ? 1 : 0);
  if (shape.reply) {
    out.message(shape.reply->message);
    out.position(shape.reply->tokens);
    out.number(shape.reply->complete ? 1 : 0);
  }
  return out.take();
}

Result<TurnShape> decode_shape(Bytes bytes) {
  Reader in(bytes);
  if (in.byte() != kVersion) {
    return fail(ErrorKind::invalid_argument, "the shape of a turn has an unknown version");
  }
  TurnShape shape;
  shape.turn_id = in.string();
  shape.session = in.fixed();
  shape.model = in.string();
  shape.chat_template = in.fixed();
  const std::uint64_t keeps = in.number(2);
  if (keeps > 0) shape.keeps_reasoning = keeps == 2;
  read_options_and_tools(in, shape);
  read_positions(in, shape);
  for (std::size_t left = in.count(limits::messages_max, 6); left > 0 && in.ok(); --left) {
    shape.messages.push_back(in.message());
  }
  if (in.flag()) {
    ReplyShape reply;
    reply.message = in.message();
    reply.tokens = in.position();
    reply.complete = in.flag();
    shape.reply = std::move(reply);
  }
  if (!in.ok() || !in.at_end()) {
    return fail(ErrorKind::invalid_argument, "the shape of a turn is damaged");
  }
  return shape;
}

}  // namespace samovar
