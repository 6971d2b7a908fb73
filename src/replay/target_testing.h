// FakeTarget: a server for tests of the replayer: it keeps every prompt it computed and counts as
// one does, a token for four bytes of each message; its replies follow from the messages alone.
// What is asked is kept. Any thread.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/target.h"

namespace samovar::replay {

class FakeTarget : public bench::Target {
 public:
  explicit FakeTarget(FakeClock& clock) : clock_(clock) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const bench::Lacks& lacks() const override { return lacks_; }
  Result<bench::TargetFacts> facts(const bench::Stop&) override { return bench::TargetFacts(); }
  Status restart(const bench::Stop&) override { return {}; }
  Result<std::uint64_t> forget_files() override { return 0; }
  Result<std::map<std::string, std::uint64_t>> stored_files() override {
    return std::map<std::string, std::uint64_t>();
  }

  bench::Answer ask(const bench::Ask& ask, const bench::Stop&) override {
    const std::scoped_lock lock(mutex_);
    const auto body = nlohmann::ordered_json::parse(ask.body);
    asked.push_back(body);
    at.push_back(clock_.now());
    bench::Answer answer;
    answer.sent = clock_.now();
    clock_.advance(reply_time);
    answer.ended = clock_.now();
    answer.status = 200;
    if (fails && fails(asked.size() - 1)) {
      answer.error = Error{ErrorKind::internal, "it broke"};
      return answer;
    }
    std::vector<std::string> units;  // one a token
    for (const auto& message : body["messages"]) {
      const std::string text = message.dump();
      for (std::size_t i = 0; i < text.size(); i += 4) units.push_back(text.substr(i, 4));
    }
    std::size_t reused = 0;
    for (const auto& before : seen_) {
      std::size_t same = 0;
      while (same < std::min(before.size(), units.size()) && before[same] == units[same]) ++same;
      reused = std::max(reused, same);
    }
    reused = std::min({reused, units.size() - 1, reuse_most});
    seen_.push_back(units);
    answer.content = content ? content(asked.size() - 1) : "r" + std::to_string(units.size());
    answer.pieces = {answer.ended};
    if (ask.pieces > 0) {
      answer.cut = true;
      return answer;
    }
    answer.finish = "stop";
    if (!tells) return answer;
    answer.figures.prompt_tokens = static_cast<std::int64_t>(units.size());
    answer.figures.reused_tokens = static_cast<std::int64_t>(reused);
    answer.figures.computed_tokens = static_cast<std::int64_t>(units.size() - reused);
    answer.figures.reply_tokens = 3;
    answer.timings = {{"queue_ms", 1.5}};
    return answer;
  }

  std::vector<nlohmann::ordered_json> asked;
  std::vector<Micros> at;
  Micros reply_time = kSecond;
  bool tells = true;  // its figures
  std::size_t reuse_most = static_cast<std::size_t>(-1);
  std::function<bool(std::size_t)> fails;
  std::function<std::string(std::size_t)> content;

 private:
  FakeClock& clock_;
  const std::string name_ = "fake";
  const bench::Lacks lacks_;
  std::mutex mutex_;
  std::vector<std::vector<std::string>> seen_;
};

}  // namespace samovar::replay
