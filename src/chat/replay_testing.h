// What the tests of replay share: JSON values with all their spellings, and tokens that say a text
// without being its canonical tokenisation.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/chat_format.h"
#include "chat/chat_testing.h"

namespace samovar::testing {

using Random = std::mt19937;

inline bool chance(Random& random, unsigned one_in) { return random() % one_in == 0; }

inline std::string random_words(Random& random, std::size_t max) {
  static const char* const kWords[] = {"grey",
                                       "Oslo",
                                       "a b",
                                       "\xC3\xA9t\xC3\xA9",
                                       "\xE6\x97\xA5",
                                       "\"q\"",
                                       "C:\\x",
                                       "1.0",
                                       "\xF0\x9F\x98\x80",
                                       "don't",
                                       "x\ny",
                                       "/path/p",
                                       "{}",
                                       "true",
                                       "naïve"};
  std::string text = kWords[random() % std::size(kWords)];
  for (auto count = random() % max; count > 0; --count) {
    (text += ' ') += kWords[random() % std::size(kWords)];
  }
  return text;
}

// A JSON value that can be written in many ways.
struct Json {
  enum class Kind { null, boolean, integer, fraction, string, array, object };
  Kind kind = Kind::null;
  long long number = 0;  // of a fraction: quarters
  std::string text;
  std::vector<std::pair<std::string, Json>> members;  // of an array without keys
};

inline Json json_string(std::string text) {
  return {.kind = Json::Kind::string, .text = std::move(text)};
}

inline Json random_json(Random& random, int depth) {
  Json json;
  json.kind = static_cast<Json::Kind>(random() % (depth > 0 ? 7 : 5));
  switch (json.kind) {
    case Json::Kind::null:
      break;
    case Json::Kind::boolean:
      json.number = random() % 2;
      break;
    case Json::Kind::integer:
      json.number = chance(random, 3) ? 9007199254740992LL + random() % 1000
                                      : static_cast<int>(random() % 2000) - 1000;
      break;
    case Json::Kind::fraction:
      json.number = 4LL * (random() % 1000) + 1 + random() % 3;
      break;
    case Json::Kind::string:
      json.text = random_words(random, 4);
      break;
    default:
      for (auto count = random() % 4; count > 0; --count) {
        json.members.emplace_back("k" + std::to_string(json.members.size()),
                                  random_json(random, depth - 1));
      }
  }
  return json;
}

inline std::string spelled_string(const std::string& text, Random& random) {
  std::string out = "\"";
  const auto escape = [&](unsigned code) {
    constexpr std::string_view kHex[] = {"0123456789abcdef", "0123456789ABCDEF"};
    const auto& digits = kHex[random() % 2];
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(code >> shift) & 15U];
  };
  const bool ascii_only = chance(random, 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (length == 1 && byte >= 0x20 && byte != '"' && byte != '\\' && !chance(random, 12)) {
      out += text[i];
    } else if (length > 1 && !ascii_only) {
      out += text.substr(i, length);
    } else if (byte == '\n' && chance(random, 2)) {
      out += "\\n";
    } else if ((byte == '"' || byte == '\\' || byte == '/') && chance(random, 2)) {
      (out += '\\') += text[i];
    } else {
      unsigned code = length == 1 ? byte : byte & (0xFFU >> (length + 1));
      for (std::size_t k = 1; k < length; ++k) code = code << 6U | (text[i + k] & 0x3FU);
      if (code >= 0x10000) {
        escape(0xD800 + ((code - 0x10000) >> 10U));
        code = 0xDC00 + ((code - 0x10000) & 0x3FFU);
      }
      escape(code);
    }
    i += length - 1;
  }
  return out + '"';
}

// Random spaces, key order, number forms and escapes. Integers keep the form of integers if
// `plain_integers`.
inline std::string spelled(const Json& json, Random& random, bool plain_integers = false) {
  const auto space = [&] { return std::string(chance(random, 3) ? random() % 3 : 0, ' '); };
  switch (json.kind) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return json.number != 0 ? "true" : "false";
    case Json::Kind::integer: {
      const std::string digits = std::to_string(json.number);
      const bool exact = plain_integers || json.number > 1000;  // libraries would round those
      if (exact) return digits;
      const std::string forms[] = {digits, digits + ".0", digits + "e0", digits + ".00E+0"};
      return forms[random() % 4];
    }
    case Json::Kind::fraction: {
      const std::string quarters[] = {"", "25", "5", "75"};
      const std::string text = std::to_string(json.number / 4) + '.' + quarters[json.number % 4];
      return text + (chance(random, 2) ? "" : chance(random, 2) ? "0" : "e0");
    }
    case Json::Kind::string:
      return spelled_string(json.text, random);
    default:
      break;
  }
  const bool is_object = json.kind == Json::Kind::object;
  auto members = json.members;
  if (is_object) std::ranges::shuffle(members, random);
  std::string out = is_object ? "{" : "[";
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += "," + space();
    if (is_object) out += spelled_string(members[i].first, random) + space() + ":" + space();
    out += spelled(members[i].second, random, plain_integers) + space();
  }
  return out + (is_object ? "}" : "]");
}

// One thing said differently.
inline void change(Json& json, Random& random) {
  switch (json.kind) {
    case Json::Kind::null:
      json = json_string("null");
      break;
    case Json::Kind::boolean:
      json.number = 1 - json.number;
      break;
    case Json::Kind::integer:
    case Json::Kind::fraction:
      json.number += 4;
      break;
    case Json::Kind::string:
      json.text += chance(random, 2) ? "!" : "\xC3\xA9";
      break;
    default:
      if (!json.members.empty() && chance(random, 2)) {
        change(json.members[random() % json.members.size()].second, random);
      } else if (!json.members.empty() && chance(random, 2)) {
        json.members.pop_back();
      } else {
        json.members.emplace_back("extra", Json{});
      }
  }
}

// Tokens with the text `text`, cut where a tokeniser would not: at random characters.
inline Tokens odd_tokens(const ChatFormat& format, const std::string& text, Random& random) {
  Tokens tokens;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.size(), begin + 1 + random() % 12);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    const auto piece = format.tokenize(text.substr(begin, end - begin));
    tokens.insert(tokens.end(), piece.begin(), piece.end());
    begin = end;
  }
  return tokens;
}

inline bool begins_with(const Tokens& tokens, const Tokens& prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

inline Tokens joined(Tokens left, const Tokens& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace samovar::testing
