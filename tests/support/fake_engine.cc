#include "tests/support/fake_engine.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <stdexcept>

namespace samovar {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash *= 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 31);
}

Token token_of(std::uint64_t output) {
  if (output % 23 == 0) return FakeEngine::kEnd;
  return FakeEngine::kWords + static_cast<Token>(output % 991);
}

// A broken promise of the caller: it must show in the test, not pass as an engine error.
void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

class FakeSnapshot final : public Snapshot {
 public:
  FakeSnapshot(Position position, std::size_t bytes, std::uint64_t state)
      : position_(position), state_(state), image_(std::max(bytes, sizeof state)) {
    std::memcpy(image_.data(), &state_, sizeof state_);
  }
  [[nodiscard]] Position position() const override { return position_; }
  [[nodiscard]] std::size_t bytes() const override { return image_.size(); }
  [[nodiscard]] std::uint64_t state() const { return state_; }
  [[nodiscard]] Bytes image() const { return image_; }

 private:
  Position position_;
  std::uint64_t state_;
  std::vector<std::uint8_t> image_;
};

class FakeSampler final : public Sampler {};

}  // namespace

FakeEngine::FakeEngine(FakeEngineOptions options, FakeClock& clock)
    : options_(options),
      clock_(clock),
      sequences_(static_cast<std::size_t>(options.sequences)),
      random_(options.seed) {
  model_.name = "fake";
  model_.architecture = "fake";
  model_.rewind = options.rewind;
  limits_ = {.cells = options.cells,
             .sequences = options.sequences,
             .ubatch = options.ubatch,
             .snapshot_bytes = options.rewind == RewindKind::anywhere ? 0 : options.snapshot_bytes,
             .token_bytes = options.token_bytes};
}

FakeEngine::Sequence& FakeEngine::at(SeqId sequence) {
  return sequences_.at(static_cast<std::size_t>(sequence));
}

bool FakeEngine::fails() {
  if (++calls_ == options_.throws_after_calls) throw std::bad_alloc();
  return options_.failure_rate > 0 &&
         std::uniform_real_distribution<>(0, 1)(random_) < options_.failure_rate;
}

// Depends on every cell and on the recurrent state, which in a sound sequence say the same.
std::uint64_t FakeEngine::output_of(const Sequence& sequence) {
  std::uint64_t hash = 1;
  for (const auto& cell : sequence.cells) hash = mix(hash, static_cast<std::uint64_t>(*cell));
  return hash ^ (sequence.state == hash ? 0 : 0x5bd1e995);
}

void FakeEngine::append(Sequence& sequence, Token token) {
  if (sequence.cells.empty()) sequence.state = 1;
  sequence.cells.push_back(make_cell(token));
  sequence.state = mix(sequence.state, static_cast<std::uint64_t>(token));
}

Tokens FakeEngine::expected_reply(TokenSpan prompt, std::size_t max) {
  std::uint64_t hash = 1;
  for (const Token token : prompt) hash = mix(hash, static_cast<std::uint64_t>(token));
  Tokens reply;
  while (reply.size() < max) {
    reply.push_back(token_of(hash));
    if (reply.back() == kEnd) break;
    hash = mix(hash, static_cast<std::uint64_t>(reply.back()));
  }
  return reply;
}

FakeEngine::Cell FakeEngine::make_cell(Token token) const {
  ++*cells_used_;
  return {new Token(token), [used = cells_used_](const Token* cell) {
            --*used;
            delete cell;
          }};
}

Tokens FakeEngine::tokens_of(SeqId sequence) const {
  Tokens tokens;
  for (const auto& cell : sequences_.at(static_cast<std::size_t>(sequence)).cells) {
    tokens.push_back(*cell);
  }
  return tokens;
}

EngineStatus FakeEngine::prefill(SeqId sequence, Position begin, TokenSpan tokens,
                                 bool want_output) {
  Sequence& target = at(sequence);
  require(!target.broken, "prefill of a broken sequence");
  require(begin == length(sequence), "prefill leaves a gap");
  require(!tokens.empty() && tokens.size() <= static_cast<std::size_t>(options_.ubatch),
          "prefill of no or too many tokens");
  clock_.advance(options_.prefill_call_us +
                 options_.prefill_token_us * static_cast<Micros>(tokens.size()));
  if (cells_used() + static_cast<Position>(tokens.size()) > options_.cells) {
    return EngineStatus::no_cells;
  }
  if (fails()) {
    target.broken = true;
    return EngineStatus::failed;
  }
  for (const Token token : tokens) append(target, token);
  outputs_.clear();
  if (want_output) outputs_.push_back(output_of(target));
  return EngineStatus::ok;
}

EngineStatus FakeEngine::decode(std::span<const DecodeStep> steps) {
  require(!steps.empty(), "decode of nothing");
  std::set<SeqId> seen;
  for (const DecodeStep& step : steps) {
    require(seen.insert(step.sequence).second, "decode of one sequence twice");
    require(!at(step.sequence).broken, "decode of a broken sequence");
    require(step.position == length(step.sequence), "decode leaves a gap");
  }
  clock_.advance(options_.decode_call_us);
  if (cells_used() + static_cast<Position>(steps.size()) > options_.cells) {
    return EngineStatus::no_cells;
  }
  const bool failed = fails();
  outputs_.clear();
  for (const DecodeStep& step : steps) {
    Sequence& target = at(step.sequence);
    if (failed) {
      target.broken = true;
      continue;
    }
    append(target, step.token);
    outputs_.push_back(output_of(target));
  }
  return failed ? EngineStatus::failed : EngineStatus::ok;
}

Sampled FakeEngine::sample(Sampler& /*sampler*/, int output) {
  Token token = token_of(outputs_.at(static_cast<std::size_t>(output)));
  if (options_.never_ends && token == kEnd) token = kWords;
  return {.token = token, .logprob = 0.0F, .top = {}};
}

Result<std::unique_ptr<Sampler>> FakeEngine::make_sampler(const SamplingParams& params,
                                                          TokenSpan /*prompt*/) {
  if (params.grammar.gbnf == "bad") {
    return fail(ErrorKind::invalid_argument, "the grammar does not parse", "response_format");
  }
  return std::make_unique<FakeSampler>();
}

Position FakeEngine::length(SeqId sequence) const {
  return static_cast<Position>(sequences_.at(static_cast<std::size_t>(sequence)).cells.size());
}

Result<SnapshotPtr> FakeEngine::snapshot(SeqId sequence) {
  require(!at(sequence).broken, "snapshot of a broken sequence");
  if (options_.rewind == RewindKind::anywhere) return nullptr;
  if (fails()) return fail(ErrorKind::internal, "injected");
  return std::make_shared<FakeSnapshot>(length(sequence), options_.snapshot_bytes,
                                        at(sequence).state);
}

bool FakeEngine::restore(Sequence& sequence, Position position, const Snapshot* snapshot) {
  require(position <= static_cast<Position>(sequence.cells.size()), "rewind forwards");
  sequence.cells.resize(static_cast<std::size_t>(position));
  if (options_.rewind == RewindKind::anywhere || position == 0) {
    sequence.state = 1;
    for (const auto& cell : sequence.cells) {
      sequence.state = mix(sequence.state, static_cast<std::uint64_t>(*cell));
    }
    return true;
  }
  require(snapshot != nullptr && snapshot->position() == position,
          "a snapshot at another position");
  if (!options_.bug_rewind_keeps_state) {
    sequence.state = static_cast<const FakeSnapshot*>(snapshot)->state();
  }
  return true;
}

EngineStatus FakeEngine::rewind(SeqId sequence, Position position, const Snapshot* snapshot) {
  if (fails()) {
    at(sequence).broken = true;
    return EngineStatus::failed;
  }
  restore(at(sequence), position, snapshot);
  at(sequence).broken = false;
  return EngineStatus::ok;
}

EngineStatus FakeEngine::fork(SeqId source, SeqId target, Position position,
                              const Snapshot* snapshot) {
  require(!at(source).broken, "fork of a broken sequence");
  require(at(target).cells.empty() && !at(target).broken,
          "fork into a sequence that holds something");
  if (fails() || options_.forks_fail) {
    at(target).broken = true;
    return EngineStatus::failed;
  }
  at(target) = at(source);
  restore(at(target), position, snapshot);
  if (options_.bug_fork_shares_one_too_few) at(target).cells.front() = make_cell(7);
  return EngineStatus::ok;
}

void FakeEngine::drop(SeqId sequence) { at(sequence) = Sequence{}; }

// A token's bytes are its id and padding: what is imported is what was exported, wrong bytes and
// all.
Status FakeEngine::export_segment(SeqId sequence, Position begin, Position end, const Room& room) {
  const Sequence& source = at(sequence);
  require(!source.broken, "export of a broken sequence");
  require(begin >= 0 && begin < end && end <= length(sequence), "export of a wrong range");
  if (fails()) return fail(ErrorKind::internal, "injected");
  clock_.advance(options_.export_token_us * (end - begin));
  const auto count = static_cast<std::size_t>(end - begin);
  const MutableBytes bytes = room(count * options_.token_bytes);
  if (bytes.size() != count * options_.token_bytes) return fail(ErrorKind::internal, "no room");
  std::ranges::fill(bytes, std::uint8_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    const Token token = *source.cells[static_cast<std::size_t>(begin) + i];
    std::memcpy(&bytes[i * options_.token_bytes], &token, sizeof token);
  }
  return {};
}

Status FakeEngine::import_segment(SeqId sequence, Position begin, Position end, Bytes segment) {
  Sequence& target = at(sequence);
  require(begin == length(sequence) && begin < end, "import leaves a gap");
  const auto count = static_cast<std::size_t>(end - begin);
  const bool refused =
      options_.import_failure_rate > 0 &&
      std::uniform_real_distribution<>(0, 1)(random_) < options_.import_failure_rate;
  if (segment.size() != count * options_.token_bytes || fails() || refused) {
    return fail(ErrorKind::internal, "a segment was refused by the engine");
  }
  require(cells_used() + (end - begin) <= options_.cells, "import beyond the cells");
  for (std::size_t i = 0; i < count; ++i) {
    Token token = 0;
    std::memcpy(&token, &segment[i * options_.token_bytes], sizeof token);
    if (options_.bug_import_flips_a_token && i == 0) token ^= 1;
    target.cells.push_back(make_cell(token));
  }
  if (options_.rewind == RewindKind::anywhere) {
    restore(target, length(sequence), nullptr);
  } else {
    target.broken = true;  // until a rewind brings the state
  }
  return {};
}

Bytes FakeEngine::snapshot_bytes(const Snapshot& snapshot) const {
  return static_cast<const FakeSnapshot&>(snapshot).image();
}

SnapshotPtr FakeEngine::make_snapshot(Position position, Bytes bytes) {
  std::uint64_t state = 0;
  require(bytes.size() >= sizeof state, "a snapshot that is too short");
  std::memcpy(&state, bytes.data(), sizeof state);
  if (options_.bug_restored_state_is_another) ++state;
  return std::make_shared<FakeSnapshot>(position, bytes.size(), state);
}

std::string FakeEngine::piece(Token token, bool show_control) const {
  if (token < kWords) return show_control ? "<" + std::to_string(token) + ">" : "";
  return " " + std::to_string(token);
}

}  // namespace samovar
