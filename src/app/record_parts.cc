#include "app/record_parts.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/json_text.h"
#include "api/turn_json.h"
#include "base/hex_text.h"
#include "fs/posix_fs.h"

namespace samovar::app {

namespace {

constexpr double kDay = 86'400.0;

LedgerOptions ledger_options(const ServeOptions& options) {
  LedgerOptions ledger;
  if (options.ledger && options.store) ledger.path = join_path(options.store_dir, "ledger.db");
  ledger.keep_text = options.ledger_text;
  ledger.record_seconds = static_cast<std::int64_t>(options.ledger_days * kDay);
  ledger.token_seconds = static_cast<std::int64_t>(options.ledger_token_days * kDay);
  return ledger;
}

void announce(const LedgerOptions& options) {
  if (options.path.empty()) {
    fmt::print("ledger: in memory only\n");
  } else {
    fmt::print("ledger: {}, {}\n", options.path,
               options.keep_text ? "with the text of every turn" : "without text");
  }
  std::fflush(stdout);
}

// Two models of one name are two models.
std::string model_identity(const LlamaEngine& engine) {
  return engine.model().name + hex_text(engine.state_format().fingerprint);
}

}  // namespace

RecordParts::RecordParts(const ServeOptions& options, const LlamaEngine& engine,
                         const ChatFormat& format, Meter& meter, TurnTracing* trace)
    : ledger_(Ledger::open(ledger_options(options), system_clock())) {
  if (options.announce) announce(ledger_->options());
  TurnRecords::Environment environment{
      .ledger = *ledger_,
      .clock = system_clock(),
      .background = background_,
      .model = model_identity(engine),
      .model_name = options.alias.empty() ? engine.model().name : options.alias,
      .template_id = format.template_source(),
      .read_reply = [&format](const SavedSyntax& saved,
                              TokenSpan reply) -> std::optional<ChatMessage> {
        auto syntax = format.load(saved);
        if (!syntax) return std::nullopt;
        return format.read_reply(std::move(*syntax), reply);
      }};
  environment.meter = &meter;
  environment.format = [](const ChatMessage& reply) { return json_text(message_json(reply)); };
  if (trace != nullptr) {
    environment.trace = [trace](const TurnTrace& turn) { trace->record(turn); };
  }
  if (options.replay) {
    replies_ = std::make_unique<LedgerReplies>(*ledger_, format);
    environment.remember = [this](const TurnRecord& turn, const std::vector<std::string>& ids) {
      replies_->remember(turn, ids);
    };
    environment.forget = [this](const Sha256& context) { replies_->forget(context); };
  }
  records_ = std::make_unique<TurnRecords>(std::move(environment));
}

RecordParts::~RecordParts() { close(); }

void RecordParts::close() {
  background_.stop();
  ledger_->flush();
}

}  // namespace samovar::app
