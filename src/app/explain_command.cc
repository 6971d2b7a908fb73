#include "app/explain_command.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/chat_request.h"
#include "api/explain_json.h"
#include "app/command_words.h"
#include "app/explain_print.h"
#include "app/serve.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/offline_chat.h"
#include "explain/explain.h"
#include "explain/neutralise.h"
#include "explain/tool_order.h"

namespace samovar::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp = R"(Usage: samovar explain BEFORE AFTER [options]

Says why the request AFTER could not reuse all that the request BEFORE had computed: where their
prompts part, why, what that costs and what to do about it. Both are files that hold the body of a
chat completions request as JSON, or one line of a log with such a body in it ("body" or
"request"); - is standard input. No server is asked and nothing is computed.

Options:
  -m, --model FILE          the model, a GGUF file: exact tokens by its template and tokeniser
                            (its weights are not loaded); without it, estimates from sizes
  --chat-template-file FILE template to use instead of the model's own
  --rate N                  prompt tokens that the server computes in a second, for the time lost
  --neutralise LIST         as for samovar serve (default: default)
  --sort-tools              as for samovar serve
  --json                    answer in JSON (docs/explain.md)
  -h, --help                show this text
)";

std::unexpected<Error> refuse(std::string message, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), "", std::move(remedy));
}

Result<std::string> read_input(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::error_code error;
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path, error)) {
      return fail(ErrorKind::not_found, fmt::format("'{}' cannot be read", path), "",
                  "give the path of a file with a request's JSON body, or -");
    }
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (text.size() > limits::body_bytes_max) {
    return fail(ErrorKind::too_large, fmt::format("'{}' is larger than a request may be ({} MiB)",
                                                  path, limits::body_bytes_max >> 20U));
  }
  return text;
}

// The request in a line of a log: the object itself, or its "body" or "request", as an object or as
// text.
std::string request_body(std::string text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.contains("messages")) return text;
  for (const char* name : {"body", "request", "request_body"}) {
    const auto inner = json.find(name);
    if (inner == json.end()) continue;
    if (inner->is_string()) return inner->get<std::string>();
    if (inner->is_object()) return inner->dump();
  }
  return text;
}

std::unexpected<Error> in_file(const std::string& path, Error error) {
  error.message = fmt::format("{}: {}", path, error.message);
  return std::unexpected(std::move(error));
}

struct Side {
  TurnShape shape;
  std::vector<AppliedRule> applied;
};

class ExplainRun {
 public:
  explicit ExplainRun(const ExplainRequest& request) : request_(request) {}

  Result<std::string> run() {
    if (auto opened = open_model(); !opened) return std::unexpected(opened.error());
    auto rules = RuleSet::parse(request_.neutralise);
    if (!rules) return std::unexpected(rules.error());
    rules_ = *rules;
    const auto before = read_side(request_.before);
    if (!before) return std::unexpected(before.error());
    const auto after = read_side(request_.after);
    if (!after) return std::unexpected(after.error());
    Figures figures;
    if (request_.rate) figures.prefill_us_per_token = 1e6 / *request_.rate;
    const Explanation explanation = explain(&before->shape, after->shape, {}, figures);
    if (request_.json) {
      return explanation_json(explanation, ExplainTexts::shown)
                 .dump(2, ' ', false, Json::error_handler_t::replace) +
             "\n";
    }
    return print_explanation(explanation, {request_.colour, chat_ == nullptr, after->applied});
  }

 private:
  Status open_model() {
    ChatFormatOptions options;
    if (!request_.chat_template_file.empty()) {
      if (request_.model.empty()) {
        return fail(ErrorKind::invalid_argument, "a template needs a model's vocabulary",
                    "--chat-template-file", "give the model with -m too");
      }
      auto source = read_input(request_.chat_template_file);
      if (!source) return std::unexpected(source.error());
      options.template_override = std::move(*source);
    }
    if (request_.model.empty()) return {};
    auto chat = OfflineChat::open(request_.model, std::move(options));
    if (!chat) return std::unexpected(chat.error());
    chat_ = std::move(*chat);
    return {};
  }

  Result<Side> read_side(const std::string& path) const {
    auto text = read_input(path);
    if (!text) return std::unexpected(text.error());
    auto parsed = parse_chat_request(request_body(std::move(*text)), {});
    if (!parsed) return in_file(path, parsed.error());
    Side side;
    auto chat = std::make_shared<ChatRequest>(std::move(parsed->chat));
    side.applied = neutralise(*chat, rules_);
    if (request_.sort_tools) sort_tools(*chat);
    ShapeOrigin origin;
    origin.session_key = parsed->session_key;
    if (chat_ == nullptr) {
      side.shape = guess_shape(*chat, origin);
    } else {
      origin.keeps_reasoning = keeps_reasoning(chat_->format(), *chat);
      auto rendered = chat_->format().render(*chat);
      if (!rendered) return in_file(path, rendered.error());
      side.shape = make_shape(*chat, rendered->prompt, origin);
      side.shape.rendered = std::make_shared<const std::string>(std::move(rendered->text));
      side.shape.tokens = std::make_shared<const Tokens>(std::move(rendered->prompt.tokens));
    }
    side.shape.request = std::move(chat);
    return side;
  }

  const ExplainRequest& request_;
  RuleSet rules_;
  std::unique_ptr<OfflineChat> chat_;  // null: estimates
};

}  // namespace

Result<ExplainRequest> parse_explain(const std::vector<std::string>& arguments) {
  ExplainRequest request;
  constexpr const char* kSee = "`samovar explain --help` lists the options";
  CLI::App app("explain");
  app.set_help_flag();
  bool help = false;
  std::vector<std::string> files;
  double rate = 0;
  app.add_option("files", files);
  app.add_option("-m,--model", request.model);
  app.add_option("--chat-template-file", request.chat_template_file);
  const CLI::Option* rate_option = app.add_option("--rate", rate);
  app.add_option("--neutralise", request.neutralise);
  app.add_flag("--sort-tools", request.sort_tools);
  app.add_flag("--json", request.json);
  app.add_flag("-h,--help", help);
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return refuse(error.what(), kSee);
  }
  if (help) {
    request.help = kHelp;
    return request;
  }
  if (files.size() != 2) {
    return refuse(fmt::format("explain compares two requests, but {} given",
                              files.empty()       ? "none was"
                              : files.size() == 1 ? "one was"
                                                  : std::to_string(files.size()) + " were"),
                  "name the file with the earlier request, then the one with the later");
  }
  if (files[0] == "-" && files[1] == "-") {
    return refuse("standard input can only be one of the two requests", "put the other in a file");
  }
  if (rate_option->count() > 0) {
    if (!(rate > 0)) return refuse("--rate must be more than 0 tokens per second", kSee);
    request.rate = rate;
  }
  if (auto rules = RuleSet::parse(request.neutralise); !rules) {
    return std::unexpected(rules.error());
  }
  request.before = files[0];
  request.after = files[1];
  return request;
}

Result<std::string> run_explain(const ExplainRequest& request) { return ExplainRun(request).run(); }

int explain_command(const std::vector<std::string>& arguments) {
  auto request = parse_explain(arguments);
  if (const auto code = answer_without_running(request)) return *code;
  log_set_level(LogLevel::error);  // of a model's loading only what stops it
  request->colour = !request->json && isatty(STDOUT_FILENO) != 0;
  const auto answer = run_explain(*request);
  if (!answer) {
    fmt::print(stderr, "samovar: {}\n", answer.error().describe());
    return kExitFailure;
  }
  fmt::print("{}", *answer);
  return 0;
}

}  // namespace samovar::app
