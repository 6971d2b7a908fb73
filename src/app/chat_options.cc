// The words after `samovar chat`, by CLI11.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "app/chat_command.h"
#include "app/key_file.h"

namespace samovar::app {

namespace {

constexpr const char* kAbout =
    "Talks with a model, of `samovar serve` or of any other OpenAI-compatible server. Without "
    "MESSAGE it is a conversation, in which /help lists what there is; with one, or with a text "
    "piped in, one turn. Every conversation is kept, also a reply that was stopped.";

constexpr const char* kEnvironment =
    "The environment gives SAMOVAR_API_KEY, and with NO_COLOR no colours.";

// What CLI11 writes into.
struct Words {
  std::vector<std::string> message;
  std::string system;
  std::string system_file;
  std::string key_file;
  std::string thinking;
  bool no_colour = false;
};

void add_options(CLI::App& app, client::ChatOptions& options, Words& words) {
  client::RequestSettings& settings = options.settings;
  app.add_option("MESSAGE", words.message, "one turn: say this, print the reply, leave")
      ->type_name("");
  app.add_option("--url", options.url, "the server; if not given and none is there: Pocket")
      ->type_name("URL")
      ->default_str(options.url);
  app.add_option("--model", settings.model, "one of its models; default: its first")
      ->type_name("NAME");
  app.add_option("--session", options.session, "go on with this conversation, or name a new one")
      ->type_name("NAME");
  auto* system = app.add_option("--system", words.system, "the system text")->type_name("TEXT");
  app.add_option("--system-file", words.system_file, "the system text, from a file")
      ->type_name("FILE")
      ->excludes(system);
  app.add_option("--key-file", words.key_file, "a file with the server's API key")
      ->type_name("FILE");
  app.add_option("--thinking", words.thinking, "whether the model reasons before it answers")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--max-tokens", settings.max_tokens, "the longest reply")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--temp", settings.temperature, "temperature; 0: the likeliest token always")
      ->type_name("T")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top-p", settings.top_p, "sample from this share of probability")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--top-k", settings.top_k, "sample from so many tokens")
      ->type_name("K")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", settings.seed, "the same seed, the same choices")->type_name("N");
  app.add_flag("--no-color", words.no_colour, "no colours");
  app.footer(kEnvironment);
}

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message), "",
              "`samovar chat --help` lists the options");
}

Result<std::string> file_text(const std::string& path, const char* flag) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad() || !in.is_open()) {
    return fail(ErrorKind::invalid_argument, "cannot read " + path, flag, "check its name");
  }
  return text;
}

std::string without_last_newline(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Status read_files(client::ChatOptions& options, const Words& words) {
  if (!words.system.empty()) options.system = words.system;
  if (!words.system_file.empty()) {
    auto text = file_text(words.system_file, "--system-file");
    if (!text) return std::unexpected(text.error());
    options.system = without_last_newline(std::move(*text));
  }
  return {};
}

Status set_folder(client::ChatOptions& options, const ChatSurroundings& around) {
  // By the XDG convention a relative path is to be passed over.
  if (around.state_home && around.state_home->starts_with('/')) {
    options.folder = *around.state_home + "/samovar/chats";
  } else if (around.home && !around.home->empty()) {
    options.folder = *around.home + "/.local/state/samovar/chats";
  } else {
    return fail(ErrorKind::invalid_argument, "no home folder is known for the conversations", "",
                "set HOME or XDG_STATE_HOME");
  }
  return {};
}

void set_surroundings(client::ChatOptions& options, const ChatSurroundings& around,
                      const Words& words) {
  const bool able = around.terminal && !around.terminal->empty() && *around.terminal != "dumb";
  options.input_terminal = around.input_terminal;
  options.output_terminal = around.output_terminal && able;
  options.colour = !words.no_colour && !around.no_colour;
  if (words.message.empty()) return;
  std::string message;
  for (const std::string& word : words.message) message += (message.empty() ? "" : " ") + word;
  options.message = std::move(message);
}

}  // namespace

Result<ChatRequest> parse_chat(const std::vector<std::string>& arguments,
                               const ChatSurroundings& around) {
  ChatRequest request;
  Words words;
  CLI::App app(kAbout, "samovar chat");
  add_options(app, request.options, words);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    request.help = app.help();
    return request;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  request.server_named = app.count("--url") + app.count("--model") > 0;
  auto key = read_key(words.key_file, around.key);
  if (!key) return std::unexpected(key.error());
  request.options.key = std::move(*key);
  if (!words.thinking.empty()) request.options.settings.thinking = words.thinking == "on";
  if (auto status = read_files(request.options, words); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = set_folder(request.options, around); !status) {
    return std::unexpected(status.error());
  }
  set_surroundings(request.options, around, words);
  return request;
}

}  // namespace samovar::app
