// What the tests of this folder share: a target that answers from a script by a clock of its own,
// and a report with known figures. Tests only; one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "bench/report.h"
#include "bench/target.h"

namespace samovar::bench::test {

// Answers as a server with a cache of one conversation would: tokens are bytes of the body, and
// what the body has in common with the one before is reused.
class FakeTarget final : public Target {
 public:
  FakeTarget(std::string name, FakeClock& clock) : name_(std::move(name)), clock_(clock) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const Lacks& lacks() const override { return lack; }

  Answer ask(const Ask& ask, const Stop& stop) override {
    asked.push_back(ask.body);
    log.push_back(name_);
    Answer answer;
    answer.sent = clock_.now();
    answer.ended = answer.sent;
    if (stop && stop()) {
      answer.stopped = true;
      answer.error = Error{ErrorKind::cancelled, "stopped"};
      return answer;
    }
    if (failing && failing(ask.body)) {
      answer.status = 400;
      answer.error = Error{ErrorKind::invalid_argument, failure};
      return answer;
    }
    std::size_t same = 0;
    const std::string text =
        ask.body.substr(std::min(ask.body.find("\"messages\""), ask.body.size()));
    while (same < std::min(text.size(), before_.size()) && text[same] == before_[same]) ++same;
    before_ = text;
    if (ask.body == knows) same = text.size();
    answer.status = 200;
    answer.figures.prompt_tokens = static_cast<std::int64_t>(ask.body.size());
    answer.figures.reused_tokens = static_cast<std::int64_t>(same);
    answer.figures.computed_tokens = static_cast<std::int64_t>(ask.body.size() - same);
    answer.figures.reply_tokens = 5;
    answer.timings["prefill_ms"] = static_cast<double>(ask.body.size() - same);
    clock_.advance(static_cast<Micros>(ask.body.size() - same) * kMillisecond + speed);
    for (int i = 0; i < 5; ++i) {
      answer.pieces.push_back(clock_.now());
      clock_.advance(10 * kMillisecond);
    }
    answer.content = "a reply";
    answer.finish = "length";
    answer.ended = clock_.now();
    return answer;
  }

  Result<TargetFacts> facts(const Stop& /*stop*/) override {
    TargetFacts facts{.server = "fake", .model = "tiny"};
    if (context > 0) facts.context = context;
    return facts;
  }

  Status restart(const Stop& /*stop*/) override {
    ++restarts;
    if (!keeps) before_.clear();
    return {};
  }
  Result<std::uint64_t> forget_files() override {
    ++forgotten;
    return 0;
  }
  Result<std::map<std::string, std::uint64_t>> stored_files() override {
    ++looked;
    return std::map<std::string, std::uint64_t>{{"a", asked.size() * 100}};
  }

  Lacks lack;
  std::string knows;  // a body that it computed before
  std::function<bool(const std::string& body)> failing;
  std::string failure = "no";
  std::int64_t context = 0;
  Micros speed = 0;   // added to every first piece
  bool keeps = true;  // what it knew, over a restart
  int restarts = 0;
  int forgotten = 0;
  int looked = 0;  // at the store's files
  std::vector<std::string> asked;
  inline static std::vector<std::string> log;  // names, in the order of requests, of all targets

 private:
  const std::string name_;
  FakeClock& clock_;
  std::string before_;
};

inline Measurement sample(Step step, std::int64_t depth, int round, const std::string& target,
                          double first_ms, double rate) {
  Measurement made;
  made.step = step;
  made.depth = depth;
  made.round = round;
  made.order = round % 2;
  made.target = target;
  made.first_ms = first_ms;
  made.total_ms = first_ms + 100;
  made.decode_per_second = rate;
  made.prompt_tokens = depth + 24;
  made.computed_tokens = step == Step::cold ? depth + 24 : 25;
  made.reused_tokens = *made.prompt_tokens - *made.computed_tokens;
  made.reply_tokens = 8;
  made.pieces = 7;
  if (target == "ours") {
    made.source = step == Step::cold ? "none" : "resident";
    made.server = {{"render_ms", first_ms * 0.1},
                   {"prefill_ms", first_ms * 0.75},
                   {"restore_ms", first_ms * 0.05},
                   {"decode_per_second", rate + 1}};
  } else {
    made.server = {{"prompt_ms", first_ms * 0.6}, {"predicted_per_second", rate + 2}};
  }
  return made;
}

// Two targets, three depths: a loss, a win, something not measured, something with one target only.
inline Report known_report() {
  Report report;
  report.conditions = {{"measured", "2026-01-02 03:04 UTC"}, {"processor", "A <fast> & quiet one"}};
  report.targets = {{"ours",
                     {.server = "samovar 0.1.0",
                      .model = "tiny.gguf",
                      .architecture = "qwen35moe",
                      .parameters = 5400000,
                      .context = 131072,
                      .flags = {"-t 2"}}},
                    {"theirs", {.server = "other 1", .model = "tiny.gguf"}}};
  for (const std::int64_t depth : {1000, 10000, 100000}) {
    const auto size = static_cast<double>(depth);
    for (int round = 0; round < 5; ++round) {
      const double drift = 1 + round * 0.01;
      auto& list = report.measurements;
      list.push_back(sample(Step::cold, depth, round, "ours", size * 0.6 * drift, 60));
      list.push_back(sample(Step::cold, depth, round, "theirs", size * 0.5 * drift, 60));
      list.push_back(sample(Step::resident, depth, round, "ours", 40 * drift + size / 1000, 60));
      list.push_back(sample(Step::resident, depth, round, "theirs", 90 * drift + size / 500, 60));
      list.push_back(sample(Step::decode, depth, round, "ours", 50, 4e6 / (size + 4e4) * drift));
      list.push_back(
          sample(Step::decode, depth, round, "theirs", 50, 4.1e6 / (size + 4e4) * drift));
    }
    report.measurements.push_back(sample(Step::restart_cold, depth, 0, "ours", 80, 60));
    Measurement none;
    none.step = Step::restart_cold;
    none.depth = depth;
    none.order = 1;
    none.target = "theirs";
    none.missing = "the folder of its store is not known (--store-dir)";
    report.measurements.push_back(none);
  }
  return report;
}

}  // namespace samovar::bench::test
