#include "client/line_editor.h"

#include <histedit.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <deque>

#include "client/text.h"

namespace samovar::client {
namespace {

constexpr int kHistoryLines = 500;
constexpr int kEscapeMs = 50;   // how long a lone Escape waits for a sequence's rest
constexpr wchar_t kQuote = 22;  // Ctrl-V: the next key is taken as it is

// Keys as the editor's own macros spell them: control characters quoted.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) out += static_cast<char>(kQuote);
    out += c;
  }
  return out;
}

}  // namespace

struct LineEditor::State {
  Keyboard& keyboard;
  SignalPipe& signals;
  Screen& screen;
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt = {};
  std::deque<wchar_t> ready = {};
  bool interrupted = false;
  bool leave = false;

  // The next character: 1, or 0 at the end, or -1 when interrupted.
  int key(wchar_t* into) {
    while (ready.empty()) {
      if (const auto next = keyboard.next()) {
        if (next->pasted && next->code < 0x20) ready.push_back(kQuote);
        ready.push_back(static_cast<wchar_t>(next->code));
        break;
      }
      if (keyboard.ended()) return 0;
      wait();
      if (interrupted) return -1;
      if (leave) return 0;
    }
    *into = ready.front();
    ready.pop_front();
    return 1;
  }

  void wait() {
    std::array<pollfd, 2> entries = {
        {{keyboard.descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
    const int count = ::poll(entries.data(), entries.size(), keyboard.waiting() ? kEscapeMs : -1);
    if (count == 0) keyboard.give_up();
    while (const auto signal = signals.next()) on_signal(*signal);
    if (count > 0 && entries[0].revents != 0) keyboard.read();
  }

  void on_signal(int number) {
    switch (number) {
      case SIGINT:
        interrupted = true;
        break;
      case SIGWINCH:
        screen.resized();
        ::el_resize(editor);
        break;
      case SIGCONT:
        ::el_set(editor, EL_PREP_TERM, 1);
        ::el_set(editor, EL_REFRESH);
        break;
      default:
        leave = true;
        break;
    }
  }
};

namespace {

template <class State>
State* state_of(EditLine* editor) {
  void* data = nullptr;
  ::el_get(editor, EL_CLIENTDATA, &data);
  return static_cast<State*>(data);
}

}  // namespace

LineEditor::LineEditor(Keyboard& keyboard, SignalPipe& signals, Screen& screen)
    : state_(new State{keyboard, signals, screen}) {
  State& state = *state_;
  state.editor = ::el_init("samovar", stdin, stdout, stderr);
  state.history = ::history_init();
  HistEvent event;
  ::history(state.history, &event, H_SETSIZE, kHistoryLines);
  ::el_set(state.editor, EL_CLIENTDATA, &state);
  ::el_set(state.editor, EL_SIGNAL, 0);
  ::el_set(state.editor, EL_EDITOR, "emacs");
  ::el_set(state.editor, EL_HIST, ::history, state.history);
  ::el_set(
      state.editor, EL_PROMPT,
      +[](EditLine* editor) { return state_of<State>(editor)->prompt.data(); });
  ::el_set(
      state.editor, EL_GETCFN,
      +[](EditLine* editor, wchar_t* into) { return state_of<State>(editor)->key(into); });
  ::el_set(state.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  ::el_source(state.editor, nullptr);
}

LineEditor::~LineEditor() {
  ::el_end(state_->editor);
  ::history_end(state_->history);
}

Line LineEditor::read(const std::string& prompt, const std::string& initial) {
  State& state = *state_;
  state.prompt = prompt;
  state.interrupted = false;
  if (!initial.empty()) ::el_push(state.editor, quoted(initial).c_str());
  int count = 0;
  const char* text = ::el_gets(state.editor, &count);
  Line line;
  if (text != nullptr && count > 0) {
    line.text.assign(text, static_cast<std::size_t>(count));
    if (line.text.ends_with('\n')) line.text.pop_back();
    if (line.text.ends_with('\r')) line.text.pop_back();
  }
  if (state.interrupted) {
    line.end = LineEnd::interrupted;
    if (const LineInfo* info = ::el_line(state.editor)) line.text = {info->buffer, info->lastchar};
    ::el_reset(state.editor);
  } else if (text == nullptr || count <= 0) {
    line.end = LineEnd::ended;
  }
  if (line.end != LineEnd::entered) state.screen.raw("\n");
  state.screen.forget();
  return line;
}

void LineEditor::remember(const std::string& line) {
  HistEvent event;
  if (!line.empty()) ::history(state_->history, &event, H_ENTER, line.c_str());
}

void LineEditor::forget_history() {
  HistEvent event;
  ::history(state_->history, &event, H_CLEAR);
}

}  // namespace samovar::client
