// Answering: one turn from request to the reply's end, while the user watches, types or stops it.
// One loop over the network, the keyboard and signals; no threads. What came is kept whatever ends
// it. Owner: the chat; one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/figures_text.h"
#include "client/keyboard.h"
#include "client/live_line.h"
#include "client/reply_reader.h"
#include "client/screen.h"
#include "client/signal_pipe.h"
#include "client/transcript.h"
#include "client/transfer.h"

namespace samovar::client {

struct Answer {
  ReplyEnd end = ReplyEnd::failed;
  std::string content;
  std::string reasoning;
  std::string finish;  // finish_reason
  std::string turn;    // the server's id
  std::string miss;    // x-samovar-miss
  std::string tool;    // the model called one
  int unreadable = 0;  // events
  TurnFigures figures;
  Measured measured;
  std::optional<Error> error;      // failed
  int status = 0;                  // HTTP
  bool interrupted = false;        // by Ctrl-C
  bool leave = false;              // Ctrl-D, or the process shall end
  std::vector<std::string> typed;  // entered meanwhile, in order
  std::string begun;               // typed, not entered

  [[nodiscard]] bool empty() const { return content.empty() && reasoning.empty(); }
};

class Answering {
 public:
  // A piece of the reply that came to be kept; called at least twice a second while one comes.
  using Keep = std::function<void(std::string_view content, std::string_view reasoning)>;

  // `keyboard` may be null: nobody can type.
  Answering(Transfer& transfer, Screen& screen, Keyboard* keyboard, SignalPipe& signals,
            const Clock& clock);

  Answer run(const HttpCall& call, Keep keep);

 private:
  void step();
  void take_bytes();
  void take(const ReplyReader::Piece& piece);
  void take_keys();
  void take_signals();
  void entered();
  void show_footer();
  void keep_due(bool all);
  void conclude();
  void conclude_answer();
  [[nodiscard]] double elapsed_ms() const;

  Transfer& transfer_;
  Screen& screen_;
  Keyboard* keyboard_;
  SignalPipe& signals_;
  const Clock& clock_;

  Keep keep_;
  Answer answer_;
  std::optional<ReplyReader> reader_;
  std::optional<RawMode> raw_;
  LiveLine live_;
  std::string refused_;  // body of an answer that is no reply
  std::string url_;
  bool stop_ = false;
  Micros began_ = 0;
  Micros kept_at_ = 0;
  std::size_t kept_content_ = 0;
  std::size_t kept_reasoning_ = 0;
};

}  // namespace samovar::client
