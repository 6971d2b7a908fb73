// What the end-to-end tests say to a server and read from it: requests as JSON, whole replies, and
// server sent events one by one. Over RawClient, so that nothing is hidden by a library. One thread
// per object.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/e2e/raw_client.h"

namespace samovar::testing {

using Json = nlohmann::json;

struct Reply {
  int status = 0;
  std::string head;
  Json json;

  [[nodiscard]] std::string text() const {  // reasoning and content
    const Json& message = json.at("choices").at(0).at("message");
    return message.value("reasoning_content", "") + "|" + message.value("content", "");
  }
  [[nodiscard]] int timing(const char* name) const { return json.at("timings").at(name); }
};

// Sends one request on a connection of its own and waits for the whole reply.
inline Reply ask(int port, const std::string& request, int seconds = 120) {
  RawClient client(port);
  client.send(request);
  const std::string all = client.receive_all(seconds);
  Reply reply;
  if (all.size() > 12) reply.status = std::atoi(all.c_str() + 9);
  const std::size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos) return reply;
  reply.head = all.substr(0, end + 2);
  reply.json = Json::parse(all.substr(end + 4), nullptr, false);
  return reply;
}

inline Reply get(int port, const std::string& path,
                 const std::string& headers = "Host: localhost\r\n") {
  return ask(port, "GET " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
}

inline Reply chat(int port, const Json& body, const std::string& headers = "") {
  return ask(port, post("/v1/chat/completions", body.dump(), "Connection: close\r\n" + headers));
}

// A reply being streamed.
class ChatStreamClient {
 public:
  ChatStreamClient(int port, Json body) : client_(port) {
    body["stream"] = true;
    client_.send(post("/v1/chat/completions", body.dump(), "Connection: close\r\n"));
  }

  [[nodiscard]] RawClient& raw() { return client_; }

  // 200 once the stream has begun; else the refusal's status.
  int status() { return std::atoi(client_.receive_until("\r\n\r\n", 60).c_str() + 9); }

  // The next event's data; nullopt at the end of the stream. Counts keepalive comments on the way.
  std::optional<std::string> next(int seconds = 120) {
    for (;;) {
      const std::optional<std::string> chunk = next_chunk(seconds);
      if (!chunk) return std::nullopt;
      if (chunk->starts_with("data: ")) return chunk->substr(6, chunk->find("\n\n") - 6);
      if (chunk->starts_with(":")) ++keepalives_;
    }
  }

  // As JSON; nullopt at "[DONE]" or the end. `done()` tells which.
  std::optional<Json> next_json() {
    const std::optional<std::string> data = next();
    done_ = data == "[DONE]";
    if (!data || done_) return std::nullopt;
    return Json::parse(*data, nullptr, false);
  }

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] int keepalives() const { return keepalives_; }

 private:
  // The server sends one event a chunk (or several, which stay together until split here).
  std::optional<std::string> next_chunk(int seconds) {
    std::size_t split = pending_.find("\n\n");
    while (split == std::string::npos) {
      if (!read_chunk(seconds)) return std::nullopt;
      split = pending_.find("\n\n");
    }
    const std::string event = pending_.substr(0, split + 2);
    pending_.erase(0, split + 2);
    return event;
  }

  bool read_chunk(int seconds) {
    if (at_ == 0) at_ = client_.receive_until("\r\n\r\n", seconds).find("\r\n\r\n") + 4;
    const auto received = [&](std::size_t size) {
      while (all().size() < size) {
        const std::size_t before = all().size();
        client_.receive_more(seconds);
        if (all().size() == before) return false;
      }
      return true;
    };
    while (all().find("\r\n", at_) == std::string::npos) {
      if (!received(all().size() + 1)) return false;
    }
    const std::size_t size = std::strtoul(all().c_str() + at_, nullptr, 16);
    const std::size_t begin = all().find("\r\n", at_) + 2;
    if (size == 0 || !received(begin + size + 2)) return false;
    pending_.append(all(), begin, size);
    at_ = begin + size + 2;
    return true;
  }

  const std::string& all() { return client_.received(); }

  RawClient client_;
  std::size_t at_ = 0;  // first byte not yet taken as a chunk
  std::string pending_;
  int keepalives_ = 0;
  bool done_ = false;
};

// --- what is said ---

inline Json message(const std::string& role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

// Words that look like text, the same for the same seed: about one and a half tokens each.
inline std::string prose(int words, unsigned seed) {
  static constexpr const char* kWords[] = {"river",  "stone", "green", "house", "seven",
                                           "walked", "slow",  "under", "light", "maybe",
                                           "window", "paper", "forty", "north"};
  std::string text;
  for (int i = 0; i < words; ++i) {
    seed = seed * 1664525U + 1013904223U;
    text += std::string(kWords[(seed >> 16) % std::size(kWords)]) + " ";
  }
  return text;
}

inline Json request(Json messages, int max_tokens) {
  return {{"messages", std::move(messages)},
          {"max_tokens", max_tokens},
          {"temperature", 0},
          {"seed", 1}};
}

}  // namespace samovar::testing
