// The table of options. Names are llama-server's wherever the meaning is the same, so that a command
// line moves over.
#include <charconv>
#include <cmath>
#include <limits>

#include "app/options.h"

namespace samovar::app {

namespace {

using Setter = std::function<std::string(const std::string&)>;

// Reads all of `text` as a number; false if anything is left over.
template <class T>
bool read_number(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

Setter text(std::string& target) {
  return [&target](const std::string& value) {
    target = value;
    return std::string();
  };
}

Setter list(std::vector<std::string>& target) {
  return [&target](const std::string& value) {
    if (value.empty()) return std::string("must not be empty");
    target.push_back(value);
    return std::string();
  };
}

Setter flag(bool& target) {
  return [&target](const std::string& value) {
    target = value == "true";
    return std::string();
  };
}

Setter integer(int& target, int low, int high) {
  return [&target, low, high](const std::string& value) {
    int number = 0;
    if (!read_number(value, number) || number < low || number > high) {
      return "must be a whole number between " + std::to_string(low) + " and " +
             std::to_string(high) + ", not '" + value + "'";
    }
    target = number;
    return std::string();
  };
}

// As integer(), but "auto" and "all" stand for `low`.
Setter integer_or_auto(int& target, int low, int high) {
  return [inner = integer(target, low, high), low](const std::string& value) {
    return inner(value == "auto" || value == "all" ? std::to_string(low) : value);
  };
}

Setter real(double& target, double low, double high) {
  return [&target, low, high](const std::string& value) {
    double number = 0;
    if (!read_number(value, number) || !(number >= low) || !(number <= high)) {
      std::string range = std::to_string(low);
      range += " and " + std::to_string(high);
      return "must be a number between " + range + ", not '" + value + "'";
    }
    target = number;
    return std::string();
  };
}

Setter size(std::optional<std::uint64_t>& target) {
  return [&target](const std::string& value) {
    const auto bytes = parse_size(value);
    if (!bytes) return "must be a size such as 512M, 4G or 1.5GiB, not '" + value + "'";
    target = bytes;
    return std::string();
  };
}

Setter seed(std::optional<std::uint32_t>& target) {
  return [&target](const std::string& value) {
    std::int64_t number = 0;
    if (!read_number(value, number) || number < -1 ||
        number > std::numeric_limits<std::uint32_t>::max()) {
      return "must be a whole number between 0 and 4294967295, or -1 for a random one, not '" +
             value + "'";
    }
    target.reset();
    if (number >= 0) target = static_cast<std::uint32_t>(number);
    return std::string();
  };
}

Setter one_of(std::string& target, std::vector<std::string> words) {
  return [&target, words = std::move(words)](const std::string& value) {
    std::string known;
    for (const std::string& word : words) {
      if (word == value) {
        target = value;
        return std::string();
      }
      known += (known.empty() ? "" : ", ") + word;
    }
    return "must be one of " + known + ", not '" + value + "'";
  };
}

const std::vector<std::string>& cache_types() {
  static const std::vector<std::string> types = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                                 "q4_1", "iq4_nl", "q5_0", "q5_1"};
  return types;
}

void add_model_rows(std::vector<OptionRow>& rows, ServeOptions& o) {
  const std::string group = "Model";
  rows.push_back({{"-m", "--model"}, {}, "FILE", group, "the model to serve, a GGUF file", "required",
                  text(o.model)});
  rows.push_back({{"-a", "--alias"}, {}, "NAME", group, "the model's name in the API",
                  "the model's own name", text(o.alias)});
  rows.push_back({{"--chat-template"}, {}, "JINJA", group,
                  "chat template to use instead of the model's own, as text", "the model's own",
                  text(o.chat_template)});
  rows.push_back({{"--chat-template-file"}, {}, "FILE", group, "the same, read from a file", "",
                  text(o.chat_template_file)});
  rows.push_back({{"-ngl", "--gpu-layers", "--n-gpu-layers"}, {}, "N", group,
                  "layers kept in the accelerator's memory; all: every one, 0: none", "all",
                  integer_or_auto(o.gpu_layers, -1, 100'000)});
}

void add_memory_rows(std::vector<OptionRow>& rows, ServeOptions& o) {
  const std::string group = "Memory and compute";
  constexpr int kMany = 1 << 30;
  rows.push_back({{"-c", "--ctx-size"}, {}, "TOKENS", group,
                  "attention cells, shared by all conversations together; 0: as many as fit, at most the "
                  "context that the model was trained for", "0", integer(o.ctx_size, 0, kMany)});
  rows.push_back({{"-np", "--parallel"}, {}, "N", group,
                  "replies that are computed at the same time", "4", integer(o.parallel, 1, 256)});
  rows.push_back({{"--sequences"}, {}, "N", group,
                  "conversations that stay resident, the running ones included; 0: twice --parallel, "
                  "at least 8", "0", integer(o.sequences, 0, 256)});
  rows.push_back({{"-b", "--batch-size"}, {}, "TOKENS", group, "upper bound of --ubatch-size",
                  "2048", integer(o.batch_size, 1, 1 << 20)});
  rows.push_back({{"-ub", "--ubatch-size"}, {}, "TOKENS", group,
                  "prompt tokens computed in one step; a cancelled turn ends within one", "512",
                  integer(o.ubatch_size, 1, 1 << 20)});
  rows.push_back({{"-t", "--threads"}, {}, "N", group, "CPU threads for decoding; -1: one per core",
                  "-1", integer_or_auto(o.threads, -1, 1024)});
  rows.push_back({{"-tb", "--threads-batch"}, {}, "N", group,
                  "CPU threads for prompts; -1: as --threads", "-1",
                  integer_or_auto(o.threads_batch, -1, 1024)});
  rows.push_back({{"-ctk", "--cache-type-k"}, {}, "TYPE", group,
                  "storage type of attention keys (f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl)",
                  "f16", one_of(o.cache_type_k, cache_types())});
  rows.push_back({{"-ctv", "--cache-type-v"}, {}, "TYPE", group,
                  "storage type of attention values, as above", "f16",
                  one_of(o.cache_type_v, cache_types())});
  rows.push_back({{"--swa-full"}, {"--no-swa-full"}, "", group,
                  "keep the cells of sliding-window layers for all tokens, so that a conversation can be cut "
                  "anywhere; off saves memory", "on", flag(o.swa_full)});
  rows.push_back({{"--memory"}, {}, "SIZE", group,
                  "memory that Samovar may plan for; what does not fit is refused at start",
                  "what is available at start", size(o.memory)});
  rows.push_back({{"--anchor-memory"}, {}, "SIZE", group,
                  "host memory for snapshots, from which earlier points of a conversation resume; 0: none",
                  "1/8 of RAM, at most 4G", size(o.anchor_memory)});
  rows.push_back({{"--anchor-grid"}, {}, "TOKENS", group,
                  "distance of the snapshots taken under a long prompt without other anchors; 0: none",
                  "4096", integer(o.anchor_grid, 0, kMany)});
}

void add_scheduling_rows(std::vector<OptionRow>& rows, ServeOptions& o) {
  const std::string group = "Scheduling";
  rows.push_back({{"--queue"}, {}, "N", group,
                  "turns that may wait; more are answered 429 with Retry-After", "64",
                  integer(o.queue, 0, 100'000)});
  rows.push_back({{"--decode-share"}, {}, "FRACTION", group,
                  "share of engine time that running replies get while prompts are computed", "0.5",
                  real(o.decode_share, 0.0, 1.0)});
  rows.push_back({{"--drain-seconds"}, {}, "N", group,
                  "how long running replies may go on after SIGTERM or SIGINT", "30",
                  integer(o.drain_seconds, 0, 86'400)});
}

void add_reply_rows(std::vector<OptionRow>& rows, ServeOptions& o) {
  const std::string group = "Replies (defaults of requests that do not say)";
  rows.push_back({{"--temp", "--temperature"}, {}, "N", group, "temperature; 0: the likeliest token",
                  "0.8", real(o.sampling.temperature, 0.0, 100.0)});
  rows.push_back({{"--top-k"}, {}, "N", group, "choose among the k likeliest tokens; 0: off", "40",
                  integer(o.sampling.top_k, 0, 1 << 24)});
  rows.push_back({{"--top-p"}, {}, "N", group,
                  "choose among the likeliest tokens that make up this probability; 1: off", "0.95",
                  real(o.sampling.top_p, 0.0, 1.0)});
  rows.push_back({{"--min-p"}, {}, "N", group,
                  "leave out tokens less likely than this part of the likeliest one; 0: off", "0.05",
                  real(o.sampling.min_p, 0.0, 1.0)});
  rows.push_back({{"-s", "--seed"}, {}, "N", group, "seed of the random choice; -1: a new one each time",
                  "-1", seed(o.sampling.seed)});
}

void add_server_rows(std::vector<OptionRow>& rows, ServeOptions& o) {
  const std::string group = "Server";
  rows.push_back({{"--host"}, {}, "ADDRESS", group,
                  "address to listen on; anything but this machine needs a key", "127.0.0.1",
                  text(o.host)});
  rows.push_back({{"--port"}, {}, "N", group, "port to listen on; 0: any free one", "8080",
                  integer(o.port, 0, 65'535)});
  rows.push_back({{"--api-key"}, {}, "KEY", group,
                  "key that requests must bring (Authorization: Bearer, or x-api-key); other users of this "
                  "machine can see command lines, so prefer --api-key-file or SAMOVAR_API_KEY", "none",
                  list(o.api_keys), true});
  rows.push_back({{"--api-key-file"}, {}, "FILE", group,
                  "keys, one a line; the file must be readable by its owner only", "none",
                  text(o.api_key_file)});
  rows.push_back({{"--allowed-host"}, {}, "NAME", group,
                  "host name under which clients may reach the server, besides localhost and the "
                  "address it listens on", "none", list(o.allowed_hosts), true});
  rows.push_back({{"--threads-http"}, {}, "N", group,
                  "connections served at the same time; a running or waiting reply holds one; 0: --queue + "
                  "--parallel + 32", "0",
                  integer(o.http_threads, 0, 4096)});
  rows.push_back({{"--log-level"}, {}, "LEVEL", "Logging", "debug, info, warn or error", "info",
                  one_of(o.log_level, {"debug", "info", "warn", "error"})});
  rows.push_back({{"-v", "--verbose"}, {}, "", "Logging", "the same as --log-level debug", "off",
                  flag(o.verbose)});
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
  add_model_rows(rows, options);
  add_memory_rows(rows, options);
  add_scheduling_rows(rows, options);
  add_reply_rows(rows, options);
  add_server_rows(rows, options);
  return rows;
}

}  // namespace samovar::app
