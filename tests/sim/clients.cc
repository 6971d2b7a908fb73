#include "tests/sim/clients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace samovar::sim {

void Outcome::add(const Outcome& other) {
  finished += other.finished;
  cut_for_cells += other.cut_for_cells;
  failed += other.failed;
  cancelled += other.cancelled;
  fell_back += other.fell_back;
  restored_tokens += other.restored_tokens;
  evictions += other.evictions;
  computed += other.computed;
  offered += other.offered;
  rewarms += other.rewarms;
  rewarms_whole += other.rewarms_whole;
  rewarms_ended += other.rewarms_ended;
  rewarmed += other.rewarmed;
  for (const auto& [source, count] : other.sources) sources[source] += count;
}

Clients::Clients(std::mt19937& random, const FakeClock& clock, Position cells, int count)
    : random_(random), clock_(clock), cells_(cells), clients_(static_cast<std::size_t>(count)) {
  for (Client& client : clients_) {
    client.conversation.messages = {words(pick(300), 1 + random_() % 3)};
  }
}

void Clients::act(const Submit& submit, bool may_fail) {
  for (Client& client : clients_) {
    if (client.sink == nullptr) {
      if (clock_.now() >= client.until) send(client, submit);
      continue;
    }
    if (client.disconnects && clock_.now() >= client.until) client.sink->cancel = true;
    if (client.sink->ended()) take_in(client, may_fail);
  }
  settle_rewarms(false);
}

void Clients::settle(bool may_fail, bool all) {
  const Submit rewarm = std::exchange(rewarm_, nullptr);  // nothing new is begun here
  for (Client& client : clients_) {
    if (client.sink != nullptr && (all || client.sink->ended())) take_in(client, may_fail);
  }
  rewarm_ = rewarm;
  settle_rewarms(all);
}

void Clients::lose_connections() {
  rewarms_.clear();
  for (Client& client : clients_) {
    if (client.sink == nullptr) continue;
    client.sink = nullptr;
    client.repeats = true;
    client.until = clock_.now() + pick(40) * kMillisecond;
  }
}

// The next request of the client: mostly a follow-up, sometimes what real clients do besides.
void Clients::change(Client& client) {
  if (std::exchange(client.repeats, false)) return;
  auto& messages = client.conversation.messages;
  const int what = pick(100);
  const auto count = static_cast<int>(messages.size());
  if (what < 10 && count > 2) {  // edit or branch
    messages.resize(static_cast<std::size_t>(1 + pick(count - 1)));
  } else if (what < 20) {  // regenerate or repeat
    if (count > 1) return;
  } else if (what < 27) {  // a new chat with a system prompt that others have too
    messages = {words(pick(300), 1 + random_() % 3)};
  } else if (what < 30) {  // an edit inside a message
    Tokens& edited = messages[static_cast<std::size_t>(pick(count))];
    if (!edited.empty()) edited[edited.size() / 2] = FakeEngine::kWords + pick(900);
  }
  messages.push_back(words(1 + pick(pick(10) == 0 ? 500 : 60), random_()));
}

void Clients::send(Client& client, const Submit& submit) {
  change(client);
  client.prompt = client.conversation.prompt();
  if (client.prompt.size() >= cells_) {  // would be refused with 400
    client.conversation.messages = {words(20, random_())};
    return;
  }
  client.max_tokens = static_cast<std::size_t>(1 + pick(60));
  client.disconnects = pick(5) == 0;
  client.until = clock_.now() + pick(60) * kMillisecond;
  client.sink = std::make_shared<RecordingSink>();
  TurnRequest request;
  request.prompt = client.prompt;
  request.arrived = clock_.now();
  request.max_tokens = static_cast<std::int64_t>(client.max_tokens);
  submit(std::move(request), client.sink);
}

// A turn has ended: check what it was told, and go on from it as a client would.
void Clients::take_in(Client& client, bool may_fail) {
  RecordingSink& sink = *client.sink;
  require(sink.ended(), "a turn never ended");
  require(sink.events_after_end == 0, "events after the last one");
  require(sink.starts <= 1, "a turn started twice");
  const Tokens expected = FakeEngine::expected_reply(client.prompt.tokens, client.max_tokens);
  const TurnTimings& timings = sink.timings();
  require(timings.reused_tokens + timings.computed_tokens <= client.prompt.size(),
          "reused + computed is more than the prompt");
  require(!sink.finished || timings.reused_tokens + timings.computed_tokens == client.prompt.size(),
          "reused + computed is not the prompt");
  require(timings.reused_tokens <= std::max(0, sink.started.reused_tokens),
          "more reused than planned");
  require(text_of(expected).starts_with(sink.reply), "a wrong token in a reply");
  if (sink.finished) {
    count(sink);
    const bool whole = sink.reply == text_of(expected);
    if (!whole) {
      require(sink.finished->reason == FinishReason::length, "a reply ended early");
      ++outcome_.cut_for_cells;
    }
    // Clients send replies back as they were, or shortened, as a template that drops reasoning
    // does.
    Tokens said = expected;
    if (pick(2) == 0) said.erase(said.begin(), said.begin() + pick(static_cast<int>(said.size())));
    client.conversation.messages.push_back(as_reply(said));
    if (pick(4) == 0) drop_reasoning(client);
    if (rewarm_ && pick(3) > 0) rewarm(client);
  } else if (sink.failed->error.kind == ErrorKind::cancelled) {
    ++outcome_.cancelled;
  } else {
    require(may_fail, "a turn failed although nothing did: " + sink.failed->error.describe());
    ++outcome_.failed;
  }
  client.sink = nullptr;
  // Some think long enough for a re-warm to get to its end.
  client.until = clock_.now() + pick(rewarm_ && pick(6) == 0 ? 200 : 40) * kMillisecond;
}

// As a template does with the steps of a tool loop once a message of the user follows.
void Clients::drop_reasoning(Client& client) {
  auto& messages = client.conversation.messages;
  const auto count = static_cast<int>(messages.size());
  for (int i = std::max(1, count - 1 - pick(8)); i < count; ++i) {
    Tokens& message = messages[static_cast<std::size_t>(i)];
    if (message.size() > 3) message.erase(message.begin() + 1, message.begin() + 2 + pick(3));
  }
}

// The history as the next message will find it.
void Clients::rewarm(const Client& client) {
  TurnRequest request;
  request.kind = TurnKind::rewarm;
  request.prompt = client.conversation.prompt();
  Prompt& prompt = request.prompt;
  prompt.tokens.resize(static_cast<std::size_t>(prompt.primer_start));
  prompt.reply_starts.pop_back();
  if (prompt.size() >= cells_) return;
  request.arrived = clock_.now();
  rewarms_.push_back(std::make_shared<RecordingSink>());
  ++outcome_.rewarms;
  rewarm_(std::move(request), rewarms_.back());
}

void Clients::settle_rewarms(bool all) {
  std::erase_if(rewarms_, [&](const auto& sink) {
    if (pick(500) == 0) sink->cancel = true;
    if (!sink->ended()) {
      require(!all, "a re-warm never ended");
      return false;
    }
    require(sink->events_after_end == 0, "events after a re-warm's last one");
    require(sink->reply.empty(), "a re-warm replied");
    const TurnTimings& timings = sink->timings();
    ++(sink->finished ? outcome_.rewarms_whole : outcome_.rewarms_ended);
    require(timings.reply_tokens == 0 && timings.decode == 0, "a re-warm decoded");
    return true;
  });
}

void Clients::count(const RecordingSink& sink) {
  const TurnTimings& timings = sink.timings();
  ++outcome_.finished;
  ++outcome_.sources[timings.source];
  outcome_.offered += timings.prompt_tokens;
  outcome_.computed += timings.computed_tokens;
  outcome_.rewarmed += timings.rewarmed_tokens;
  require(timings.rewarmed_tokens <= timings.reused_tokens, "more re-warmed than reused");
  const auto begun = std::ranges::count(sink.restoring, 0, &TurnRestoring::done);
  if (timings.source == ReuseSource::store) {
    // A turn that gave way may restore again; what it was told first counts.
    const int told = sink.started.reused_tokens;
    require(std::ranges::count(sink.restoring, told, &TurnRestoring::done) > 0,
            "counted as restored, and was not");
    outcome_.restored_tokens += timings.reused_tokens;
    outcome_.fell_back += begun > 1 ? 1 : 0;
  } else {
    outcome_.fell_back += begun > 0 ? 1 : 0;
  }
}

void check_books(const Scheduler& scheduler, const FakeEngine& engine,
                 const FakeEngineOptions& engine_options, const SchedulerOptions& options) {
  const Memory& memory = scheduler.memory();
  require(engine.cells_used() == memory.cells().used(), "the books disagree about the cells");
  require(scheduler.running() <= options.parallel, "too many turns run");
  const auto unthinned = static_cast<std::size_t>(2 * engine_options.sequences);
  require(memory.anchors().bytes() <=
              options.anchor_bytes_max + engine_options.snapshot_bytes * unthinned,
          "anchors beyond the budget");
  int running = 0;
  for (SeqId sequence = 0; sequence < engine_options.sequences; ++sequence) {
    const Resident& resident = memory.resident(sequence);
    running += resident.running ? 1 : 0;
    require(engine.tokens_of(sequence) == resident.tokens, "the books disagree about the tokens");
    for (const Anchor& anchor : memory.anchors().of(sequence)) {
      require(anchor.position <= static_cast<Position>(resident.tokens.size()),
              "an anchor beyond the end of its sequence");
      require(anchor.snapshot->position() == anchor.position, "an anchor at another position");
    }
  }
  require(running == scheduler.running(), "a sequence runs without a turn");
}

RewarmWatch::RewarmWatch(const Scheduler& scheduler)
    : scheduler_(scheduler),
      busy_(scheduler.waiting() + scheduler.running() > 0),
      figures_(scheduler.rewarm_figures()),
      evictions_(scheduler.memory().evictions()) {
  for (SeqId id = 0; id < scheduler.memory().sequences(); ++id) {
    const Resident& resident = scheduler.memory().resident(id);
    const bool may_go = resident.guest || resident.spare || scheduler.saved(id);
    sequences_.push_back({resident.epoch, resident.tokens.empty() || may_go});
  }
}

void RewarmWatch::check_step(bool may_fail) const {
  const RewarmFigures figures = scheduler_.rewarm_figures();
  // A turn whose client left is gone before anything else in a step.
  const bool still_busy = busy_ && scheduler_.waiting() + scheduler_.running() > 0;
  require(!still_busy || figures.tokens == figures_.tokens,
          "a re-warm computed while a turn waited");
  if (busy_) return;
  // After an engine error the line that a re-warm extended goes back to an anchor.
  const bool repaired = may_fail && scheduler_.memory().evictions() == evictions_;
  for (SeqId id = 0; id < scheduler_.memory().sequences(); ++id) {
    const Before& before = sequences_[static_cast<std::size_t>(id)];
    const bool taken = scheduler_.memory().resident(id).epoch != before.epoch;
    require(!taken || before.may_go || repaired,
            "a re-warm took what was not stored, or a live line");
  }
}

unsigned only_seed() {
  const char* seed = std::getenv("SAMOVAR_SIM_SEED");
  return seed == nullptr ? 0U : static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
}

Outcome simulate(unsigned rounds, const std::function<Outcome(unsigned seed)>& run) {
  Outcome total;
  const unsigned only = only_seed();
  for (unsigned seed = only == 0 ? 1 : only; seed <= (only == 0 ? rounds : only); ++seed) {
    try {
      total.add(run(seed));
    } catch (const std::exception& finding) {
      ADD_FAILURE() << finding.what() << "\nrepeat with: SAMOVAR_SIM_SEED=" << seed << " sim_test";
      break;
    }
  }
  return total;
}

}  // namespace samovar::sim
