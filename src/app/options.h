// What `samovar serve` can be told, and how: ServeOptions are the values, option_rows() is the one
// table that drives the command line, the config file, --help and docs/options.md. A new option is
// a new member here and a new row in option_table.cc, nothing else.
//
// Precedence: command line, then config file, then defaults; the environment holds secrets
// (SAMOVAR_API_KEY, HF_TOKEN) and what is common to all programs that use a model hub
// (model_source.h). Values and functions; any thread. Errors are Error values that name the flag.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/sampling.h"
#include "explain/neutralise.h"

namespace samovar::app {

struct ServeOptions {
  // model
  std::string model;
  std::string hf_repo;   // "owner/name" or "owner/name:QUANT"; instead of `model`
  std::string hf_file;   // in hf_repo; instead of a quantisation
  std::string hf_token;  // empty: HF_TOKEN of the environment
  bool offline = false;
  std::string alias;
  std::string chat_template;  // jinja source
  std::string chat_template_file;
  int gpu_layers = -1;  // -1: all

  // memory and compute
  int ctx_size = 0;  // cells, all sequences together; 0: what the model was trained for
  int parallel = 4;
  int sequences = 0;  // 0: max(8, 2 * parallel)
  int batch_size = 2048;
  int ubatch_size = 512;
  int threads = -1;        // -1: as many as there are cores
  int threads_batch = -1;  // -1: as threads
  std::string cache_type_k = "f16";
  std::string cache_type_v = "f16";
  bool swa_full = true;
  std::optional<std::uint64_t> memory;         // bytes; nullopt: what the machine has
  std::optional<std::uint64_t> anchor_memory;  // bytes; nullopt: min(4 GiB, 1/8 of RAM)
  int anchor_grid = 4096;                      // tokens
  int cut_spacing = 96;                        // tokens

  // store
  bool store = true;
  std::string store_dir;                              // empty: samovar in the user's cache folder
  std::optional<std::uint64_t> store_size;            // bytes; nullopt: a part of the free space
  std::optional<std::uint64_t> store_writes_per_day;  // bytes; nullopt: 200 GiB; 0: no limit
  std::optional<std::uint64_t> store_buffers;         // bytes; nullopt: min(512 MiB, 1/16 of RAM)
  double store_quiet = 2.0;                           // seconds
  double store_window = 30.0;                         // seconds

  // ledger
  bool ledger = true;  // on disk, beside the store
  bool ledger_text = false;
  bool store_responses = true;
  double ledger_days = 30.0;
  double ledger_token_days = 7.0;
  bool replay = true;
  std::string record;  // file of a trace; empty: none
  bool record_redact = false;

  // scheduling
  int queue = 64;
  double decode_share = 0.6;
  int drain_seconds = 30;
  bool rewarm = true;

  // prompts
  RuleSet neutralise = RuleSet::defaults();
  bool sort_tools = false;

  // replies
  SamplingParams sampling;

  // server
  std::string host = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> api_keys;
  std::string api_key_file;
  std::vector<std::string> allowed_hosts;
  int http_threads = 0;  // 0: queue + parallel + 128, between 512 and 4096

  // Prints what it is made of on stdout. No option: a command whose results go there turns it off.
  bool announce = true;

  // logging
  bool verbose = false;
  std::string log_level = "info";

  // What was given, by flag, for people: without secrets and templates.
  std::vector<std::pair<std::string, std::string>> given;
};

// One row of the table. `set` checks and stores a value and returns what is wrong with it ("" if
// nothing).
struct OptionRow {
  std::vector<std::string> flags;     // "-ngl", "--gpu-layers"; the last long one is not special
  std::vector<std::string> negative;  // "--no-swa-full"; flags only
  std::string value;                  // placeholder; empty: a flag without value
  std::string group;
  std::string help;
  std::string fallback;  // the default, for people
  std::function<std::string(const std::string&)> set;
  bool repeatable = false;

  // The first long flag without its dashes: the name in config files and messages.
  [[nodiscard]] std::string key() const;
};

[[nodiscard]] std::vector<OptionRow> option_rows(ServeOptions& options);

// --- from words to values -----------------------------------------------------------------------

struct ParsedServe {
  ServeOptions options;
  std::vector<std::string> notes;  // one line each: flags that were accepted without effect
  bool help = false;
};

// `arguments` are the words after "serve". Reads the config file and key file they name.
[[nodiscard]] Result<ParsedServe> parse_serve(const std::vector<std::string>& arguments);

// Fills in what depends on other options or on the machine, and refuses what cannot work together.
[[nodiscard]] Status resolve(ServeOptions& options);

// The store's folder where none is named; empty if the environment names no home.
[[nodiscard]] std::string default_store_dir();

// "512M", "4G", "1.5GiB", "65536" to bytes; nullopt if it is not a size.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// --- for people ---------------------------------------------------------------------------------

[[nodiscard]] std::string serve_help();
[[nodiscard]] std::string options_markdown();

}  // namespace samovar::app
