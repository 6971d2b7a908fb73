// What the tests of write-behind share: scheduler, fake engine and fake clock over a real store in
// SimFs, whose writes are counted by kind. One thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "base/log.h"
#include "sched/scheduler.h"
#include "sched/write_behind.h"
#include "tests/support/recording_meter.h"
#include "tests/support/store_rig.h"
#include "tests/support/turns.h"

namespace samovar {

using testing::StoreRig;

struct Written {
  int segments = 0;
  int snapshots = 0;
  std::uint64_t segment_bytes = 0;  // payloads
  std::vector<std::string> order;   // ".seg" or ".snap", as they were begun
};

class WriteBehindTest : public ::testing::Test {
 protected:
  WriteBehindTest() {
    engine_options.cells = 120'000;
    engine_options.ubatch = 512;
    engine_options.prefill_call_us = 0;
    engine_options.prefill_token_us = 1000;
    options.parallel = 2;
    options.anchor_bytes_max = std::size_t{1} << 20;
    rig.options.buffer_bytes = std::size_t{64} << 20;
  }
  ~WriteBehindTest() override { stop(); }

  void boot() {
    rig.options.meter = &meter;
    rig.options.needs_snapshot = engine_options.rewind == RewindKind::snapshot;
    ASSERT_TRUE(rig.open());
    start_engine(rig.store.get());
    count_writes();
  }
  void start_engine(Store* store) {
    engine = std::make_unique<FakeEngine>(engine_options, rig.clock);
    scheduler = std::make_unique<Scheduler>(
        *engine, rig.clock, options, Persistence{.store = store, .port = engine.get()}, meter);
  }
  void stop() {
    scheduler.reset();
    engine.reset();
    rig.fs.clear_faults();
  }
  void restart() {
    scheduler->save_all(10 * kSecond);
    stop();
    rig.close();
    boot();
  }
  void lose_power() {
    stop();
    rig.fs.crash(1);
    rig.die();
    boot();
  }

  void count_writes() {
    rig.fs.set_hook(
        [this](FsOp op, const std::string& path, std::uint64_t bytes) -> std::optional<FsFault> {
          const bool segment = path.contains(".seg.");
          if (op == FsOp::create && path.ends_with(".tmp")) {
            ++(segment ? written.segments : written.snapshots);
            written.order.push_back(segment ? "seg" : "snap");
            header_ = true;
          } else if (op == FsOp::write && !std::exchange(header_, false) && segment) {
            written.segment_bytes += bytes;
          }
          return std::nullopt;
        });
  }

  std::shared_ptr<RecordingSink> send(const Conversation& talk, std::int64_t max_tokens = 20) {
    auto sink = std::make_shared<RecordingSink>();
    TurnRequest request;
    request.prompt = talk.prompt();
    request.arrived = rig.clock.now();
    request.max_tokens = max_tokens;
    auto sampler = engine->make_sampler(request.sampling, request.prompt.tokens);
    scheduler->add(std::move(request), std::move(*sampler), sink);
    return sink;
  }

  void step() {
    scheduler->step();
    rig.settle();
  }
  void finish(RecordingSink& sink) {
    for (int i = 0; i < 100'000 && !sink.ended(); ++i) step();
    ASSERT_TRUE(sink.ended());
  }

  // A turn from its request to its reply, which the conversation then has as it was said.
  std::shared_ptr<RecordingSink> turn(Conversation& talk, int new_tokens, bool extend = true) {
    talk.messages.push_back(words(new_tokens, ++seed_));
    const Prompt prompt = talk.prompt();
    auto sink = send(talk);
    finish(*sink);
    EXPECT_TRUE(sink->finished) << (sink->failed ? sink->failed->error.describe() : "");
    Tokens said = FakeEngine::expected_reply(prompt.tokens, 20);
    EXPECT_EQ(sink->reply, text_of(said));
    if (!extend) said.erase(said.begin(), said.begin() + static_cast<int>(said.size()) / 2);
    talk.messages.push_back(as_reply(said));
    return sink;
  }

  // Nothing happens but time.
  void pass(Micros duration) {
    const Micros until = rig.clock.now() + duration;
    while (rig.clock.now() < until) {
      step();
      rig.clock.advance(100 * kMillisecond);
    }
    for (int i = 0; i < 20; ++i) step();
  }

  [[nodiscard]] std::uint64_t kv_bytes(Position tokens) const {
    return static_cast<std::uint64_t>(tokens) * engine_options.token_bytes;
  }
  [[nodiscard]] Position stored(const Conversation& talk) const {
    const auto tokens = talk.prompt().tokens;
    const auto chain = rig.store->longest(tokens, static_cast<Position>(tokens.size()) - 1);
    return chain ? chain->position : 0;
  }
  static Conversation new_talk(int system_tokens, unsigned seed) {
    return {.messages = {words(system_tokens, seed)}};
  }

  RecordingMeter meter;
  StoreRig rig;
  FakeEngineOptions engine_options;
  SchedulerOptions options;
  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<Scheduler> scheduler;
  Written written;

 private:
  unsigned seed_ = 1000;
  bool header_ = false;
};

}  // namespace samovar
