// Target: what is measured, a server that answers chat completions, wherever it runs: over HTTP
// (HttpTarget) or in this process (app/in_process_target.h). It is asked with the body of a
// POST /v1/chat/completions, "stream": true, and says what came and when.
//
// Two kinds of figures, never mixed: instants are the client's, by the Clock that was passed in;
// `figures` and `timings` are the server's own words, empty where it says nothing.
//
// ask() blocks until the reply has ended and may be called by several threads at once; everything
// else by one thread while nothing is asked. What fails is in Answer::error, with the remedy.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/completion_chunk.h"

namespace samovar::bench {

// Asked several times a second while something runs; true ends it.
using Stop = std::function<bool()>;

struct Ask {
  std::string body;                       // JSON
  std::vector<std::string> headers = {};  // "Name: value"
  Micros timeout = 0;                     // for the whole reply; 0: none
  std::size_t pieces = 0;                 // ends the reply after so many, as a user would; 0: none
};

// Too few pieces for a rate of tokens: how many the first one held, before time was taken, is not
// known.
[[nodiscard]] bool pieces_hold_several(std::int64_t tokens, std::int64_t pieces);

struct AnswerCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// Instants and durations in microseconds of the client's clock.
struct Answer {
  Micros sent = 0;
  std::vector<Micros> pieces;  // of text, reasoning or a tool call; several may come at once
  Micros ended = 0;

  int status = 0;  // HTTP; 0: no answer
  std::string id;
  std::string content;
  std::string reasoning;
  std::string tool;  // name of a tool the model called
  std::vector<AnswerCall> calls;
  std::string finish;  // finish_reason
  std::string miss;    // x-samovar-miss; empty: none

  client::TurnFigures figures;            // the server's; prompt_tokens and the like
  std::map<std::string, double> timings;  // every number of the server's `timings`, by its name
  std::string source;                     // `timings.source`: where reused tokens came from
  std::string miss_class;                 // `timings.miss.class`
  std::optional<std::int64_t> lost;       // `timings.miss.tokens_lost`

  std::optional<Error> error;  // no reply, or not a whole one
  bool stopped = false;        // by Stop; `error` is set, too
  bool cut = false;            // by Ask::pieces; no error

  [[nodiscard]] bool ok() const { return !error.has_value(); }
  // From the request to the first piece; nullopt: none came.
  [[nodiscard]] std::optional<double> first_ms() const;
  [[nodiscard]] double total_ms() const { return to_ms(ended - sent); }
  // (tokens - 1) / (last piece - first piece), tokens as the server counts them; nullopt: fewer
  // than two pieces, no count, or pieces that hold several tokens each. No prefill is in it.
  [[nodiscard]] std::optional<double> decode_per_second() const;
};

// What a target says of itself; empty where it does not.
struct TargetFacts {
  std::string server;    // program and version
  std::string model_id;  // what a request's `model` says
  std::string model;     // the same without folder: for reports
  std::string architecture;
  std::optional<std::uint64_t> parameters;
  std::optional<std::uint64_t> model_bytes;
  std::optional<std::int64_t> context;  // tokens
  std::vector<std::string> flags;       // as given by the user, where known
};

// Lacks::cold_files of a store whose folder is on a file system in memory.
inline constexpr const char* kStoreInMemory = "its store is on a file system in memory";

// Why something cannot be measured; empty: it can. Each reads well after "not measured: ".
struct Lacks {
  std::string restart;
  std::string cold_files;    // dropping the store's files from the page cache
  std::string stored_bytes;  // what the store's folder holds
};

class Target {
 public:
  virtual ~Target() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  // short, for tables
  [[nodiscard]] virtual const Lacks& lacks() const = 0;

  virtual Answer ask(const Ask& ask, const Stop& stop) = 0;
  virtual Result<TargetFacts> facts(const Stop& stop) = 0;

  // Ends the server in order and starts it again; returns when it is ready for requests.
  virtual Status restart(const Stop& stop) = 0;

  // Drops the store's files from the page cache, so that they come from the disk next; bytes that
  // they have.
  virtual Result<std::uint64_t> forget_files() = 0;

  // Sizes of the store's files, by path.
  virtual Result<std::map<std::string, std::uint64_t>> stored_files() = 0;
};

}  // namespace samovar::bench
