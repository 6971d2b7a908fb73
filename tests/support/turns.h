// Building blocks of scheduler tests: prompts with message structure for the fake engine, and a
// sink that records what a turn was told.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/turn.h"
#include "tests/support/fake_engine.h"

namespace samovar {

// A conversation as token lists, one per message; `prompt()` adds the delimiters and the primer. A
// message that begins with kPrimer is a reply.
struct Conversation {
  std::vector<Tokens> messages;  // the first is the system prompt

  [[nodiscard]] Prompt prompt() const {
    Prompt prompt;
    for (const Tokens& message : messages) {
      prompt.message_starts.push_back(prompt.size());
      if (!message.empty() && message.front() == FakeEngine::kPrimer) {
        prompt.reply_starts.push_back(prompt.size());
      }
      prompt.tokens.push_back(FakeEngine::kMessage);
      prompt.tokens.insert(prompt.tokens.end(), message.begin(), message.end());
      if (prompt.message_starts.size() == 1) prompt.system_end = prompt.size();
    }
    prompt.primer_start = prompt.size();
    prompt.message_starts.push_back(prompt.size());
    prompt.reply_starts.push_back(prompt.size());
    prompt.tokens.push_back(FakeEngine::kMessage);
    prompt.tokens.push_back(FakeEngine::kPrimer);
    return prompt;
  }
};

// A reply as the history has it.
inline Tokens as_reply(Tokens tokens) {
  tokens.insert(tokens.begin(), FakeEngine::kPrimer);
  return tokens;
}

// `count` ordinary tokens that depend on `seed`.
inline Tokens words(int count, unsigned seed) {
  std::mt19937 random(seed);
  Tokens tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(FakeEngine::kWords + static_cast<Token>(random() % 991));
  }
  return tokens;
}

class RecordingSink final : public TurnSink {
 public:
  void on_event(TurnEvent event) override {
    if (ended()) ++events_after_end;
    if (std::holds_alternative<TurnStarted>(event)) {
      ++starts;
      started = std::get<TurnStarted>(event);
    } else if (auto* text = std::get_if<TurnText>(&event)) {
      reply += text->text;
      for (auto& sample : text->tokens) samples.push_back(sample);
    } else if (auto* end = std::get_if<TurnFinished>(&event)) {
      finished = *end;
    } else if (auto* failure = std::get_if<TurnFailed>(&event)) {
      failed = *failure;
    } else if (auto* step = std::get_if<TurnProgress>(&event)) {
      progress.push_back(*step);
    } else if (auto* part = std::get_if<TurnRestoring>(&event)) {
      restoring.push_back(*part);
    }
  }
  void on_token(Token token) override { tokens.push_back(token); }
  [[nodiscard]] bool cancelled() const override { return cancel; }
  [[nodiscard]] bool ended() const { return finished.has_value() || failed.has_value(); }
  [[nodiscard]] const TurnTimings& timings() const {
    return finished ? finished->timings : failed->timings;
  }

  bool cancel = false;
  int starts = 0;
  int events_after_end = 0;
  TurnStarted started;
  std::string reply;
  Tokens tokens;  // sampled
  std::vector<Sampled> samples;
  std::vector<TurnRestoring> restoring;
  std::vector<TurnProgress> progress;
  std::optional<TurnFinished> finished;
  std::optional<TurnFailed> failed;
};

// The text of a reply of the fake engine.
inline std::string text_of(const Tokens& reply) {
  std::string text;
  for (const Token token : reply) {
    if (token >= FakeEngine::kWords) text += " " + std::to_string(token);
  }
  return text;
}

}  // namespace samovar
