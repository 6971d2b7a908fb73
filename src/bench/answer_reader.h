// AnswerReader: the bytes of a chat completion's answer, with the instants at which they came, into
// an Answer. Each event of the stream that carries text, reasoning or a part of a tool call is a
// piece. A value; one an answer, one thread. A reply that breaks off is an error of the Answer;
// what came is kept.
#pragma once

#include <string>
#include <string_view>

#include "bench/target.h"
#include "client/sse_parser.h"

namespace samovar::bench {

class AnswerReader {
 public:
  explicit AnswerReader(Micros sent) { answer_.sent = sent; }

  void head(int status, std::string miss);  // before the first byte
  void feed(std::string_view bytes, Micros now);

  // The exchange is over; `failure`: it broke off.
  [[nodiscard]] Answer finish(Micros now, std::optional<Error> failure);

  // Ends the reply on purpose: that it is not whole is no error.
  void cut() { answer_.cut = true; }

  [[nodiscard]] std::size_t pieces() const { return answer_.pieces.size(); }
  [[nodiscard]] bool done() const { return done_ || !answer_.finish.empty(); }
  [[nodiscard]] const std::string& refused() const { return refused_; }  // body of a refusal

 private:
  void event(std::string_view data, Micros now);

  Answer answer_;
  client::SseParser parser_;
  bool done_ = false;
  int unreadable_ = 0;
  std::string refused_;
};

}  // namespace samovar::bench
