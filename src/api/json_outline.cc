#include "api/json_outline.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/limits.h"

namespace samovar {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Outliner {
 public:
  Outliner(std::string_view body, std::string_view member) : body_(body), member_(member) {}

  Result<JsonOutline> run() {
    for (at_ = 0; at_ < body_.size(); ++at_) {
      const char c = body_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        if (auto opened = open(c); !opened) return std::unexpected(opened.error());
      } else if (c == '}' || c == ']') {
        close();
      } else if (c == ':') {
        if (auto counted = count_member(); !counted) return std::unexpected(counted.error());
      } else if (depth() == kInMessages && in_messages_ && !is_space(c)) {
        separate(c);
      } else if (c == '\0') {
        doubtful_ = true;  // some parsers take it for the end
      }
    }
    outline_.has_messages = found_ && !in_messages_ && !doubtful_ && depth() == 0;
    return std::move(outline_);
  }

 private:
  static constexpr std::size_t kTop = 1;         // inside the body's object
  static constexpr std::size_t kInMessages = 2;  // inside the array

  [[nodiscard]] std::size_t depth() const { return members_.size(); }

  // To the closing quote: the first one with an even number of backslashes before it.
  void skip_string() {
    const std::size_t begin = at_ + 1;
    std::size_t quote = begin;
    for (;; ++quote) {
      quote = body_.find('"', quote);
      if (quote == std::string_view::npos) {
        at_ = body_.size();
        return;
      }
      std::size_t slashes = quote;
      while (slashes > begin && body_[slashes - 1] == '\\') --slashes;
      if ((quote - slashes) % 2 == 0) break;
    }
    at_ = quote;
    if (depth() == kTop) last_string_ = body_.substr(begin, quote - begin);
    if (depth() == kInMessages && in_messages_) doubtful_ = true;  // an element that is no object
  }

  Status open(char c) {
    if (depth() == 0 && opened_++ > 0) doubtful_ = true;  // a second value
    if (c == '[' && depth() == kTop && messages_follow_) {
      if (found_) doubtful_ = true;
      found_ = in_messages_ = true;
      outline_.messages_begin = at_ + 1;
    } else if (depth() == kInMessages && in_messages_) {
      if (c == '[' || comma_due_) doubtful_ = true;
      element_begin_ = at_;
      comma_due_ = true;
    }
    messages_follow_ = false;
    members_.push_back(0);
    if (depth() <= limits::json_depth_max) return {};
    return fail(ErrorKind::invalid_argument,
                fmt::format("the body nests deeper than {} levels", limits::json_depth_max), {},
                "flatten it: tool schemas are the usual cause");
  }

  void close() {
    if (members_.empty()) return;
    members_.pop_back();
    if (!in_messages_) return;
    if (depth() == kInMessages) {
      outline_.messages.push_back(body_.substr(element_begin_, at_ + 1 - element_begin_));
    } else if (depth() == kTop) {
      in_messages_ = false;
      outline_.messages_end = at_;
      if (!comma_due_ && !outline_.messages.empty()) doubtful_ = true;  // a comma before the end
    }
  }

  Status count_member() {
    if (members_.empty()) return {};
    if (depth() == kTop) {
      // A key with an escape in it may be any key.
      if (last_string_.find('\\') != std::string_view::npos) doubtful_ = true;
      const bool messages = last_string_ == member_;
      if (messages && ++keys_ > 1) doubtful_ = true;
      messages_follow_ = messages;
    }
    comparisons_ += members_.back()++;
    if (comparisons_ <= limits::json_comparisons_max) return {};
    return fail(ErrorKind::invalid_argument, "an object in the body has too many members", {},
                "send fewer members in one object");
  }

  void separate(char c) {
    if (c == ',' && comma_due_) {
      comma_due_ = false;
    } else {
      doubtful_ = true;
    }
  }

  std::string_view body_;
  std::string_view member_;  // that holds the messages
  std::size_t at_ = 0;
  std::vector<std::uint64_t> members_;  // of each object or array that is open
  std::uint64_t comparisons_ = 0;
  JsonOutline outline_;
  std::string_view last_string_;  // at the top
  std::size_t element_begin_ = 0;
  int opened_ = 0;
  int keys_ = 0;
  bool messages_follow_ = false;
  bool found_ = false;
  bool in_messages_ = false;
  bool comma_due_ = false;
  bool doubtful_ = false;
};

}  // namespace

Result<JsonOutline> outline_json(std::string_view body, std::string_view member) {
  return Outliner(body, member).run();
}

}  // namespace samovar
