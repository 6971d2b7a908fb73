#include "engine/llama_engine.h"

#include <fmt/core.h>
#include <llama-ext.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "engine/llama_context.h"
#include "engine/llama_memory.h"
#include "engine/llama_sampler.h"
#include "engine/llama_segments.h"
#include "engine/logits.h"
#include "engine/memory_plan.h"

namespace samovar {

Result<std::unique_ptr<LlamaEngine>> LlamaEngine::open(const EngineOptions& options) {
  EngineOptions resolved = options;
  if (resolved.cells == 0) {
    const Result<MemoryPlan> plan = plan_memory(options);
    if (!plan) {
      return std::unexpected(plan.error());
    }
    resolved.cells = plan->cells;
  }
  Result<std::unique_ptr<LlamaContext>> context = LlamaContext::open(resolved);
  if (!context) {
    return std::unexpected(context.error());
  }
  std::unique_ptr<LlamaEngine> engine(new LlamaEngine(std::move(*context), resolved));
  if (!engine->probe() || !engine->measure_costs()) {
    return fail(ErrorKind::unavailable, "the model loads, but computing one token fails", "-m",
                "The file may be damaged, or the compute backend unable to run it.");
  }
  Result<StateFormat> format =
      samovar::state_format(*engine->context_->model(), resolved, engine->context_->shape());
  if (!format) {
    return std::unexpected(format.error());
  }
  engine->state_format_ = *format;
  return engine;
}

LlamaEngine::LlamaEngine(std::unique_ptr<LlamaContext> context, const EngineOptions& options)
    : context_(std::move(context)),
      memory_(std::make_unique<LlamaMemory>(context_->raw(), context_->shape(), options.sequences)),
      segments_(std::make_unique<LlamaSegments>(
          context_->raw(), memory_->scratch(),
          context_->shape().guarded ? llama_model_n_swa(context_->model()) : 0)),
      model_(describe_model(*context_->model(), options)) {
  limits_.cells = static_cast<Position>(llama_n_ctx(context_->raw()));
  limits_.sequences = options.sequences;
  limits_.ubatch = static_cast<int>(llama_n_ubatch(context_->raw()));
  for (Token token = 0; token < model_.vocab_size; ++token) {
    if (llama_vocab_is_eog(context_->vocab(), token)) {
      end_tokens_.push_back(token);
    }
  }
}

LlamaEngine::~LlamaEngine() = default;

EngineStatus LlamaEngine::prefill(SeqId sequence, Position begin, TokenSpan tokens,
                                  bool want_output) {
  assert(memory_->valid(sequence) && begin == memory_->length(sequence));
  assert(!tokens.empty() && static_cast<int>(tokens.size()) <= limits_.ubatch);
  context_->clear_batch();
  output_rows_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool output = want_output && i + 1 == tokens.size();
    context_->add(tokens[i], begin + static_cast<Position>(i), memory_->ids(sequence), output);
  }
  if (want_output) {
    output_rows_.push_back(static_cast<int>(tokens.size()) - 1);
  }
  involved_.assign(1, sequence);
  const EngineStatus status = compute(involved_);
  if (status == EngineStatus::ok) {
    memory_->appended(sequence, static_cast<Position>(tokens.size()));
  }
  return status;
}

EngineStatus LlamaEngine::decode(std::span<const DecodeStep> steps) {
  assert(!steps.empty() && static_cast<int>(steps.size()) <= limits_.ubatch);
  context_->clear_batch();
  output_rows_.clear();
  involved_.clear();
  for (const DecodeStep& step : steps) {
    assert(memory_->valid(step.sequence) && step.position == memory_->length(step.sequence));
    assert(std::ranges::find(involved_, step.sequence) == involved_.end());
    output_rows_.push_back(context_->batch_size());
    context_->add(step.token, step.position, memory_->ids(step.sequence), true);
    involved_.push_back(step.sequence);
  }
  const EngineStatus status = compute(involved_);
  if (status == EngineStatus::ok) {
    for (const SeqId sequence : involved_) {
      memory_->appended(sequence, 1);
    }
  }
  return status;
}

EngineStatus LlamaEngine::compute(std::span<const SeqId> sequences) {
  const bool usable = !dead_ && std::ranges::none_of(sequences, [&](SeqId sequence) {
    return memory_->broken(sequence);
  });
  const int code = usable ? context_->run_batch() : -1;
  if (code == 0) {
    return EngineStatus::ok;
  }
  output_rows_.clear();
  if (code == 1) {
    return EngineStatus::no_cells;
  }
  log_error("the engine failed with code {} on a batch of {} tokens", code, context_->batch_size());
  for (const SeqId sequence : sequences) {
    memory_->mark_broken(sequence);
  }
  return EngineStatus::failed;
}

std::span<const float> LlamaEngine::logits(int output) const {
  assert(output >= 0 && static_cast<std::size_t>(output) < output_rows_.size());
  const float* row =
      llama_get_logits_ith(context_->raw(), output_rows_[static_cast<std::size_t>(output)]);
  assert(row != nullptr);
  return {row, static_cast<std::size_t>(model_.vocab_size)};
}

Sampled LlamaEngine::sample(Sampler& sampler, int output) {
  assert(output >= 0 && static_cast<std::size_t>(output) < output_rows_.size());
  return static_cast<LlamaSampler&>(sampler).sample(context_->raw(),
                                                    output_rows_[static_cast<std::size_t>(output)]);
}

Result<std::unique_ptr<Sampler>> LlamaEngine::make_sampler(const SamplingParams& params,
                                                           TokenSpan prompt) {
  const std::size_t most =
      params.grammar.from_tools ? limits::tool_grammar_bytes_max : limits::format_grammar_bytes_max;
  if (params.grammar.gbnf.size() > most) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the grammar of the reply has {} bytes, at most {} are allowed",
                            params.grammar.gbnf.size(), most),
                params.grammar.from_tools ? "tools" : "response_format",
                "Use fewer or shorter alternatives (enum values)");
  }
  return LlamaSampler::make(*context_->model(), params, end_tokens_, prompt);
}

Position LlamaEngine::length(SeqId sequence) const { return memory_->length(sequence); }

Result<SnapshotPtr> LlamaEngine::snapshot(SeqId sequence) { return memory_->snapshot(sequence); }

EngineStatus LlamaEngine::rewind(SeqId sequence, Position position, const Snapshot* snapshot) {
  const LlamaMemory::Outcome outcome = memory_->rewind(sequence, position, snapshot);
  return outcome == LlamaMemory::Outcome::lost   ? after_loss(sequence)
         : outcome == LlamaMemory::Outcome::done ? EngineStatus::ok
                                                 : EngineStatus::failed;
}

EngineStatus LlamaEngine::fork(SeqId source, SeqId target, Position position,
                               const Snapshot* snapshot) {
  const LlamaMemory::Outcome outcome = memory_->fork(source, target, position, snapshot);
  return outcome == LlamaMemory::Outcome::lost   ? after_loss(target)
         : outcome == LlamaMemory::Outcome::done ? EngineStatus::ok
                                                 : EngineStatus::failed;
}

// A restore that libllama refused must leave nothing behind, and the context must still compute.
// The outputs of the last call are lost.
EngineStatus LlamaEngine::after_loss(SeqId sequence) {
  log_error("the state of sequence {} could not be restored", sequence);
  if (!memory_->really_empty(sequence) || !probe()) {
    log_error("the engine does not compute any more after a failed restore");
    dead_ = true;
  }
  return EngineStatus::failed;
}

Status LlamaEngine::export_segment(SeqId sequence, Position begin, Position end, const Room& room) {
  assert(begin >= 0 && begin < end && end <= memory_->length(sequence));
  if (dead_ || memory_->broken(sequence)) {
    return fail(ErrorKind::internal, fmt::format("sequence {} is not usable", sequence));
  }
  return segments_->take(sequence, begin, end, room);
}

Status LlamaEngine::import_segment(SeqId sequence, Position begin, Position end, Bytes segment) {
  assert(begin == memory_->length(sequence) && begin < end);
  if (dead_) {
    return fail(ErrorKind::internal, "the engine does not compute any more");
  }
  const Status status = segments_->put(memory_->ids(sequence), segment);
  if (!status) {
    memory_->forget_from(sequence, begin);
    dead_ = !probe();
    return status;
  }
  memory_->appended(sequence, end - begin);
  if (model_.rewind == RewindKind::snapshot) {
    memory_->mark_broken(sequence);  // until a rewind to its end brings the state
  }
  return {};
}

Bytes LlamaEngine::snapshot_bytes(const Snapshot& snapshot) const {
  return dynamic_cast<const LlamaSnapshot&>(snapshot).state();
}

SnapshotPtr LlamaEngine::make_snapshot(Position position, Bytes bytes) {
  return memory_->make_snapshot(position, bytes);
}

SnapshotPtr LlamaEngine::adopt_snapshot(Position position, Buffer bytes) {
  return memory_->adopt_snapshot(position, std::move(bytes));
}

void LlamaEngine::drop(SeqId sequence) { memory_->drop(sequence); }

bool LlamaEngine::probe() {
  if (dead_) {
    return false;
  }
  llama_seq_id scratch = memory_->scratch();
  output_rows_.clear();
  context_->clear_batch();
  context_->add(end_tokens_.empty() ? 0 : end_tokens_.front(), 0, {&scratch, 1}, true);
  const int code = context_->run_batch();
  bool computes = code == 1;  // a full memory proves nothing, but is no fault
  if (code == 0) {
    const float* row = llama_get_logits_ith(context_->raw(), 0);
    computes = row != nullptr &&
               most_likely({row, static_cast<std::size_t>(model_.vocab_size)}) != kBrokenToken;
  }
  llama_memory_seq_rm(llama_get_memory(context_->raw()), scratch, -1, -1);
  return computes;
}

// What one token takes, and what a second one adds to it: to a recurrent state nothing, to a window
// a cell, to a segment its K/V.
bool LlamaEngine::measure_costs() {
  constexpr SeqId any = 0;
  std::array<std::size_t, 2> states{};
  std::array<std::size_t, 2> segments{};
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Token token = 0;
    const auto at = static_cast<Position>(i);
    if (prefill(any, at, {&token, 1}, false) != EngineStatus::ok) {
      return false;
    }
    const auto room = [&bytes](std::size_t size) -> MutableBytes {
      bytes.resize(size);
      return bytes;
    };
    if (!export_segment(any, 0, at + 1, room)) {
      return false;
    }
    segments[i] = bytes.size();
    if (model_.rewind == RewindKind::anywhere) {
      continue;
    }
    const Result<SnapshotPtr> taken = snapshot(any);
    if (!taken) {
      return false;
    }
    states[i] = (*taken)->bytes();
  }
  drop(any);
  limits_.token_bytes = segments[1] - segments[0];
  const auto window = static_cast<std::size_t>(std::max(1, llama_model_n_swa(context_->model())));
  limits_.snapshot_bytes = states[0] + (states[1] - states[0]) * (window - 1);
  return true;
}

LlamaEngine::Allocated LlamaEngine::allocated() const {
  Allocated sum;
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context_->raw())) {
    sum.weights += bytes.model;
    sum.memory += bytes.context;
    sum.compute += bytes.compute;
  }
  return sum;
}

llama_model* LlamaEngine::raw_model() const { return context_->model(); }

std::string LlamaEngine::piece(Token token, bool show_control) const {
  if (token < 0 || token >= model_.vocab_size) {
    return {};
  }
  std::array<char, 64> small{};
  int size =
      llama_token_to_piece(context_->vocab(), token, small.data(), small.size(), 0, show_control);
  if (size >= 0) {
    return {small.data(), static_cast<std::size_t>(size)};
  }
  std::string text(static_cast<std::size_t>(-size), '\0');
  size = llama_token_to_piece(context_->vocab(), token, text.data(), -size, 0, show_control);
  return size >= 0 ? text : std::string();
}

bool LlamaEngine::is_end(Token token) const {
  return std::ranges::find(end_tokens_, token) != end_tokens_.end();
}

}  // namespace samovar
