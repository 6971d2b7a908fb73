// The table of options. Names are llama-server's wherever the meaning is the same, so that a
// command line moves over.
#include <utility>

#include "app/option_setters.h"
#include "app/options.h"

namespace samovar::app {

namespace {

const std::vector<std::string>& cache_types() {
  static const std::vector<std::string> types = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                                 "q4_1", "iq4_nl", "q5_0", "q5_1"};
  return types;
}

using Names = std::vector<std::string>;

// The table while it is made, one group at a time.
struct Rows {
  std::vector<OptionRow>& rows;
  std::string group = {};

  void option(Names flags, std::string value, Setter set, std::string fallback, std::string help) {
    rows.push_back({std::move(flags),
                    {},
                    std::move(value),
                    group,
                    std::move(help),
                    std::move(fallback),
                    std::move(set)});
  }
  void list(Names flags, std::string value, Setter set, std::string fallback, std::string help) {
    option(std::move(flags), std::move(value), std::move(set), std::move(fallback),
           std::move(help));
    rows.back().repeatable = true;
  }
  void flag(Names flags, Names negative, Setter set, std::string fallback, std::string help) {
    option(std::move(flags), "", std::move(set), std::move(fallback), std::move(help));
    rows.back().negative = std::move(negative);
  }
};

void add_model_rows(Rows rows, ServeOptions& o) {
  rows.group = "Model";
  rows.option({"-m", "--model"}, "FILE", text(o.model), "",
              "the model to serve, a GGUF file; of a split one, any part. Without this and "
              "--hf-repo `samovar serve` serves Pocket, which comes with Samovar");
  rows.option(
      {"-hf", "-hfr", "--hf-repo"}, "OWNER/NAME[:QUANT]", text(o.hf_repo), "",
      "the model to serve, from a repository of the Hugging Face hub; downloaded unless the "
      "shared cache has it. Without QUANT: Q4_K_M, else Q8_0, else the first one");
  rows.option({"-hff", "--hf-file"}, "FILE", text(o.hf_file), "",
              "the file in --hf-repo, instead of QUANT");
  rows.option({"-hft", "--hf-token"}, "TOKEN", text(o.hf_token), "HF_TOKEN of the environment",
              "token for gated and private repositories; other users of this machine can see "
              "command lines, so prefer HF_TOKEN");
  rows.flag({"--offline"}, {}, flag(o.offline), "off",
            "ask no hub: --hf-repo finds what is in the cache; the same as HF_HUB_OFFLINE=1");
  rows.option({"-a", "--alias"}, "NAME", text(o.alias), "the model's own name",
              "the model's name in the API");
  rows.option({"--chat-template"}, "JINJA", text(o.chat_template), "the model's own",
              "chat template to use instead of the model's own, as text");
  rows.option({"--chat-template-file"}, "FILE", text(o.chat_template_file), "",
              "the same, read from a file");
  rows.option({"-ngl", "--gpu-layers", "--n-gpu-layers"}, "N",
              integer_or_auto(o.gpu_layers, -1, 100'000), "all",
              "layers kept in the accelerator's memory; all: every one, 0: none");
}

void add_memory_rows(Rows rows, ServeOptions& o) {
  rows.group = "Memory and compute";
  constexpr int kMany = 1 << 30;
  rows.option({"-c", "--ctx-size"}, "TOKENS", integer(o.ctx_size, 0, kMany), "0",
              "attention cells, shared by all conversations together; 0: as many as fit, at most "
              "the context that the model was trained for. Pocket's default: 32768");
  rows.option({"-np", "--parallel"}, "N", integer(o.parallel, 1, 256), "4",
              "replies that are computed at the same time");
  rows.option({"--sequences"}, "N", integer(o.sequences, 0, 256), "0",
              "conversations that stay resident, the running ones included; 0: twice --parallel, "
              "at least 8");
  rows.option({"-b", "--batch-size"}, "TOKENS", integer(o.batch_size, 1, 1 << 20), "2048",
              "upper bound of --ubatch-size");
  rows.option({"-ub", "--ubatch-size"}, "TOKENS", integer(o.ubatch_size, 1, 1 << 20), "512",
              "prompt tokens computed in one step; a cancelled turn ends within one");
  rows.option({"-t", "--threads"}, "N", integer_or_auto(o.threads, -1, 1024), "-1",
              "CPU threads for decoding; -1: one per physical core");
  rows.option({"-tb", "--threads-batch"}, "N", integer_or_auto(o.threads_batch, -1, 1024), "-1",
              "CPU threads for prompts; -1: as --threads");
  rows.option(
      {"-ctk", "--cache-type-k"}, "TYPE", one_of(o.cache_type_k, cache_types()), "f16",
      "storage type of attention keys (f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl)");
  rows.option({"-ctv", "--cache-type-v"}, "TYPE", one_of(o.cache_type_v, cache_types()), "f16",
              "storage type of attention values, as above");
  rows.flag({"--swa-full"}, {"--no-swa-full"}, flag(o.swa_full), "on",
            "keep the cells of sliding-window layers for all tokens, so that a conversation can be "
            "cut anywhere; off saves memory");
  rows.option({"--memory"}, "SIZE", size(o.memory), "what is available at start",
              "memory that Samovar may plan for; what does not fit is refused at start");
  rows.option(
      {"--anchor-memory"}, "SIZE", size(o.anchor_memory), "1/8 of RAM, at most 4G",
      "host memory for snapshots, from which earlier points of a conversation resume; 0: none");
  rows.option({"--anchor-grid"}, "TOKENS", integer(o.anchor_grid, 0, kMany), "4096",
              "distance of the snapshots taken under a long prompt without other anchors; 0: none");
  rows.option({"--cut-spacing"}, "TOKENS", integer(o.cut_spacing, 1, 512), "96",
              "a message starts a new step of prefill unless the last step ended closer than this: "
              "less makes edits cheaper, more makes long histories of short messages faster");
}

void add_store_rows(Rows rows, ServeOptions& o) {
  rows.group = "Store (sessions on disk, so that they are warm after a restart)";
  rows.flag({"--store"}, {"--no-store"}, flag(o.store), "on",
            "keep sessions on disk; off: only in memory");
  rows.option({"--store-dir"}, "FOLDER", text(o.store_dir),
              "samovar/store in $XDG_CACHE_HOME or ~/.cache",
              "where; one server at a time, any number of models");
  rows.option({"--store-size"}, "SIZE", size(o.store_size),
              "half of what is free or the store's already, at most 128G",
              "bytes of everything in the folder; the least valuable sessions go first");
  rows.option({"--store-writes-per-day"}, "SIZE", size(o.store_writes_per_day), "200G",
              "bytes written in a day; from four fifths on only what leaves memory is written; "
              "0: no limit");
  rows.option({"--store-quiet"}, "SECONDS", real(o.store_quiet, 0.0, 3600.0), "2",
              "a session that has been quiet for so long is written; one that keeps coming back is "
              "given twice its usual pause, at most --store-window");
  rows.option({"--store-window"}, "SECONDS", real(o.store_window, 0.1, 86'400.0), "30",
              "computing time of a busy session that a crash may cost at most");
  rows.option({"--store-buffers"}, "SIZE", size(o.store_buffers), "1/16 of RAM, at most 512M",
              "host memory for bytes on their way to and from the disk");
}

void add_ledger_rows(Rows rows, ServeOptions& o) {
  rows.group = "Ledger (what was asked, reused and computed; replies that were cut)";
  rows.flag({"--ledger"}, {"--no-ledger"}, flag(o.ledger), "on",
            "record turns in ledger.db in the store's folder; off, or with --no-store: in memory");
  rows.flag({"--ledger-text"}, {"--no-ledger-text"}, flag(o.ledger_text), "off",
            "keep the text of every request and reply, not only of those with \"store\": true");
  rows.flag({"--store-responses"}, {"--no-store-responses"}, flag(o.store_responses), "on",
            "keep the text of responses (POST /v1/responses) that do not say \"store\"");
  rows.option({"--ledger-days"}, "DAYS", real(o.ledger_days, 0.01, 36'500.0), "30",
              "how long figures, hashes and kept text stay");
  rows.option(
      {"--ledger-token-days"}, "DAYS", real(o.ledger_token_days, 0.0, 36'500.0), "7",
      "how long the tokens of replies stay, for exact replay and for replies that were cut");
  rows.flag({"--replay"}, {"--no-replay"}, flag(o.replay), "on",
            "use the tokens that were sampled when a client sends a reply back, and the reasoning "
            "of a running tool loop where the client leaves it out");
}

void add_trace_rows(Rows rows, ServeOptions& o) {
  rows.group = "Traces (what `samovar replay` can make again)";
  rows.option({"--record"}, "FILE", text(o.record), "off",
              "add every turn to a trace, with the text of prompts and replies; the file is its "
              "owner's alone");
  rows.flag({"--record-redact"}, {}, flag(o.record_redact), "off",
            "write words that mean nothing into the trace instead of every text");
}

void add_scheduling_rows(Rows rows, ServeOptions& o) {
  rows.group = "Scheduling";
  rows.option({"--queue"}, "N", integer(o.queue, 0, 100'000), "64",
              "turns that may wait; more are answered 429 with Retry-After");
  rows.option({"--decode-share"}, "FRACTION", real(o.decode_share, 0.05, 0.95), "0.6",
              "share of engine time that running replies get while prompts are computed");
  rows.option({"--drain-seconds"}, "N", integer(o.drain_seconds, 0, 86'400), "30",
              "how long running replies may go on after SIGTERM or SIGINT");
  rows.flag({"--rewarm"}, {"--no-rewarm"}, flag(o.rewarm), "on",
            "after a reply, compute the history as the template will show it with the next message "
            "(without the reasoning of earlier turns), while nothing else runs");
}

std::string volatile_rules_help() {
  std::string text =
      "known lines that change with every request and mean nothing to the model: replaced by a "
      "fixed form, so that they break no prefix, and reported with every turn. Names with commas "
      "between them, default, all or none. ";
  std::string rules;
  for (const VolatileRule& rule : volatile_rules()) {
    rules += rules.empty() ? "" : "; ";
    rules += std::string(rule.name) + ": " + std::string(rule.help);
  }
  return text + rules;
}

void add_prompt_rows(Rows rows, ServeOptions& o) {
  rows.group = "Prompts";
  rows.option({"--neutralise"}, "LIST", rule_set(o.neutralise), RuleSet::defaults().list(),
              volatile_rules_help());
  rows.flag({"--sort-tools"}, {"--no-sort-tools"}, flag(o.sort_tools), "off",
            "put the tools of every request into the order of their names, for clients that send "
            "them in another order each time");
}

void add_reply_rows(Rows rows, ServeOptions& o) {
  rows.group = "Replies (defaults of requests that do not say)";
  rows.option({"--temp", "--temperature"}, "N", real(o.sampling.temperature, 0.0, 100.0), "0.8",
              "temperature; 0: the likeliest token (Pocket's default)");
  rows.option({"--top-k"}, "N", integer(o.sampling.top_k, 0, 1 << 24), "40",
              "choose among the k likeliest tokens; 0: off");
  rows.option({"--top-p"}, "N", real(o.sampling.top_p, 0.0, 1.0), "0.95",
              "choose among the likeliest tokens that make up this probability; 1: off");
  rows.option({"--min-p"}, "N", real(o.sampling.min_p, 0.0, 1.0), "0.05",
              "leave out tokens less likely than this part of the likeliest one; 0: off");
  rows.option({"-s", "--seed"}, "N", seed(o.sampling.seed), "-1",
              "seed of the random choice; -1: a new one each time");
}

void add_server_rows(Rows rows, ServeOptions& o) {
  rows.group = "Server";
  rows.option({"--host"}, "ADDRESS", text(o.host), "127.0.0.1",
              "address to listen on; anything but this machine needs a key");
  rows.option({"--port"}, "N", integer(o.port, 0, 65'535), "8080",
              "port to listen on; 0: any free one");
  rows.list({"--api-key"}, "KEY", list(o.api_keys), "none",
            "key that requests must bring (Authorization: Bearer, or x-api-key); other users of "
            "this machine can see command lines, so prefer --api-key-file or SAMOVAR_API_KEY");
  rows.option(
      {"--api-key-file"}, "FILE", text(o.api_key_file), "none",
      "keys, one a line, lines with # in front are skipped; the file must be readable by its "
      "owner only (chmod 600)");
  rows.list({"--allowed-host"}, "NAME", list(o.allowed_hosts), "none",
            "host name under which clients may reach the server, besides localhost and the address "
            "it listens on");
  rows.option({"--threads-http"}, "N", integer(o.http_threads, 0, 4096), "0",
              "requests served at the same time, a running or waiting reply each; some more wait, "
              "the rest is answered 503 with Retry-After; idle and slow connections take none; 0: "
              "--queue + --parallel + 128, at least 512");
  rows.group = "Logging";
  rows.option({"--log-level"}, "LEVEL", one_of(o.log_level, {"debug", "info", "warn", "error"}),
              "info", "debug, info, warn or error");
  rows.flag({"-v", "--verbose"}, {}, flag(o.verbose), "off", "the same as --log-level debug");
}

}  // namespace

std::string OptionRow::key() const {
  for (const std::string& flag_name : flags) {
    if (flag_name.starts_with("--")) return flag_name.substr(2);
  }
  return {};
}

std::vector<OptionRow> option_rows(ServeOptions& options) {
  std::vector<OptionRow> rows;
  add_model_rows({rows}, options);
  add_memory_rows({rows}, options);
  add_store_rows({rows}, options);
  add_ledger_rows({rows}, options);
  add_trace_rows({rows}, options);
  add_scheduling_rows({rows}, options);
  add_prompt_rows({rows}, options);
  add_reply_rows({rows}, options);
  add_server_rows({rows}, options);
  return rows;
}

}  // namespace samovar::app
