// The words after `samovar cache`, by CLI11.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <utility>

#include "app/cache_command.h"
#include "app/command_words.h"
#include "app/options.h"

namespace samovar::app {

namespace {

constexpr const char* kProgram = "samovar cache";
constexpr const char* kAbout =
    "Looks into and looks after the store, where `samovar serve` keeps sessions on disk. What only "
    "reads works while a server runs; what changes something needs it stopped.";

// `about` is the command's one line in the list and the first of its help.
CLI::App* add(CLI::App& app, CacheRequest& request, const std::string& name,
              const std::string& about) {
  CLI::App* command = app.add_subcommand(name, about);
  command->add_option("--store-dir", request.folder, "the store's folder")
      ->type_name("FOLDER")
      ->default_str(request.folder);
  command->add_flag("--json", request.json, "print JSON, with whole ids, bytes and Unix seconds");
  return command;
}

void add_id(CLI::App* command, CacheRequest& request, const std::string& what) {
  command->add_option("ID", request.id, what)->required()->type_name("");
}

void add_reading(CLI::App& app, CacheRequest& request) {
  CLI::App* ls = add(app, request, "ls", "list sessions, the one used last first");
  ls->add_flag("--entries", request.entries, "list every file instead");
  ls->add_option("--model", request.model,
                 "only of this model: its name, or 8 digits of its "
                 "fingerprint or more")
      ->type_name("NAME");
  add(app, request, "stats", "totals, of each model and in all");
  CLI::App* verify = add(app, request, "verify",
                         "read every file and check it; exit code 1 if "
                         "one is bad");
  verify->add_flag("--quick", request.quick, "read headers only");
  verify->add_flag("--repair", request.repair, "put damaged files in quarantine");
}

void add_changing(CLI::App& app, CacheRequest& request, std::string& size) {
  add(app, request, "rebuild", "make the catalog again from the files");
  CLI::App* gc = add(app, request, "gc",
                     "remove what is worthless: temporaries, the quarantine, "
                     "files that nothing can match");
  gc->add_option("--size", size, "then remove the least valuable until no more than this is left")
      ->type_name("SIZE");
  gc->add_flag("--dry-run", request.dry_run, "only say what would be done");
  add_id(add(app, request, "pin", "keep something: it is never evicted"), request,
         "a session (its present ends) or an entry, with all before it");
  add_id(add(app, request, "unpin", "undo pin"), request, "a session or an entry");
  CLI::App* rm = add(app, request, "rm", "remove something and everything that stands on it");
  add_id(rm, request, "a session or an entry");
  rm->add_flag("--dry-run", request.dry_run, "only say what would be done");
  CLI::App* purge = add(app, request, "purge",
                        "remove what a session wrote and no other one "
                        "stands on");
  auto* session =
      purge->add_option("--session", request.session, "the client's prompt_cache_key, or an id")
          ->type_name("KEY|ID");
  auto* model = purge->add_option("--model", request.model, "all sessions of this model")
                    ->type_name("NAME")
                    ->excludes(session);
  purge->add_flag("--all", request.all, "everything in the store")
      ->excludes(session)
      ->excludes(model);
  purge->add_flag("--dry-run", request.dry_run, "only say what would be done");
}

void add_transfer(CLI::App& app, CacheRequest& request) {
  CLI::App* out = add(app, request, "export", "write a session into a file, for another machine");
  add_id(out, request, "a session, or an entry with all before it");
  out->add_option("FILE", request.file, "a new file")->required()->type_name("");
  CLI::App* in = add(app, request, "import", "take in what export wrote");
  in->add_option("FILE", request.file, "the file")->required()->type_name("");
}

std::unexpected<Error> refuse(std::string message, const std::string& command) {
  return refuse_words(std::move(message), kProgram, command);
}

}  // namespace

Result<CacheRequest> parse_cache(const std::vector<std::string>& arguments) {
  CacheRequest request;
  request.folder = default_store_dir();
  std::string size;
  CLI::App app(kAbout, kProgram);
  app.require_subcommand(0, 1);
  add_reading(app, request);
  add_changing(app, request, size);
  add_transfer(app, request);
  const auto chosen = read_command_words(app, kProgram, arguments);
  if (!chosen) return std::unexpected(chosen.error());
  request.command = chosen->name;
  request.help = chosen->help;
  if (!request.help.empty()) return request;
  if (request.folder.empty()) {
    return refuse("no home folder is known for the store: name it with --store-dir",
                  request.command);
  }
  if (!size.empty()) request.size = parse_size(size);
  if (!size.empty() && !request.size) {
    return refuse(fmt::format("--size: \"{}\" is not a size such as 10G", size), request.command);
  }
  if (request.command == "purge" && request.session.empty() && request.model.empty() &&
      !request.all) {
    return refuse("purge what? Give --session, --model or --all", request.command);
  }
  return request;
}

}  // namespace samovar::app
