// The words after `samovar models`, by CLI11.
#include <CLI/CLI.hpp>

#include "app/command_words.h"
#include "app/models_command.h"

namespace samovar::app {
namespace {

constexpr const char* kProgram = "samovar models";
constexpr const char* kAbout =
    "Lists, downloads and removes models of the Hugging Face hub. They lie in the cache that other "
    "programs use as well: $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub. Without a "
    "command it lists them.";

constexpr const char* kEnvironment =
    "The environment gives HF_TOKEN, HF_ENDPOINT, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE.";

struct Parsed {
  std::string name;
  std::string token;
  bool offline = false;
};

CLI::App* add(CLI::App& app, ModelsRequest& request, const std::string& name,
              const std::string& about) {
  CLI::App* command = app.add_subcommand(name, about);
  command->add_flag("--json", request.json, "print JSON, with bytes and Unix seconds");
  command->footer(kEnvironment);
  return command;
}

void add_commands(CLI::App& app, ModelsRequest& request, Parsed& parsed) {
  app.require_subcommand(0, 1);
  app.footer(kEnvironment);
  app.add_flag("--json", request.json, "print JSON, with bytes and Unix seconds");
  add(app, request, "ls", "list models, whole and partly downloaded ones");

  CLI::App* pull = add(app, request, "pull", "download a model, or go on with it; prints its file");
  pull->add_option("NAME", parsed.name, "OWNER/NAME or OWNER/NAME:QUANT")
      ->required()
      ->type_name("");
  pull->add_option("--file", request.wish.file, "the file in the repository, instead of QUANT")
      ->type_name("FILE");
  pull->add_option("--hf-token", parsed.token,
                   "token for gated and private repositories; prefer HF_TOKEN")
      ->type_name("TOKEN");
  pull->add_flag("--offline", parsed.offline, "ask no hub, only look into the cache");

  CLI::App* rm = add(app, request, "rm", "remove a model; what another revision uses stays");
  rm->add_option("NAME", parsed.name, "OWNER/NAME:QUANT; without QUANT every GGUF of it")
      ->required()
      ->type_name("");
  rm->add_flag("-y,--yes", request.yes, "do not ask");
  rm->add_flag("--dry-run", request.dry_run, "only say what would be done");
}

}  // namespace

Result<ModelsRequest> parse_models(const std::vector<std::string>& arguments,
                                   const Environment& environment) {
  ModelsRequest request;
  Parsed parsed;
  CLI::App app(kAbout, kProgram);
  add_commands(app, request, parsed);
  const auto chosen = read_command_words(app, kProgram, arguments, "ls");
  if (!chosen) return std::unexpected(chosen.error());
  request.command = chosen->name;
  request.help = chosen->help;
  if (!request.help.empty()) return request;
  auto settings = hub_settings(environment, parsed.token, parsed.offline);
  if (!settings) return std::unexpected(settings.error());
  request.settings = std::move(*settings);
  if (request.command == "ls") return request;
  auto ref = hub::parse_repo_ref(parsed.name, "NAME");
  if (!ref) return std::unexpected(ref.error());
  request.wish.ref = std::move(*ref);
  return request;
}

}  // namespace samovar::app
