#include "app/models_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cache_tables.h"
#include "app/command_words.h"
#include "app/serve.h"
#include "base/size_text.h"
#include "fs/posix_fs.h"
#include "hub/hub_cache.h"
#include "hub/remove_models.h"
#include "net/url.h"

namespace samovar::app {
namespace {

using nlohmann::json;
using Answer = Result<ModelsAnswer>;

json json_of(const hub::CachedModel& model) {
  return {{"name", model.repo},
          {"quant", model.quant},
          {"complete", model.complete},
          {"current", model.current},
          {"path", model.path},
          {"files", model.files},
          {"missing", model.missing},
          {"bytes", model.bytes},
          {"total_bytes", model.total == 0 ? json() : json(model.total)},
          {"modified", model.modified}};
}

// "complete", "older", "partial: 41%".
std::string state_of(const hub::CachedModel& model) {
  if (model.complete) return model.current ? "complete" : "complete, older";
  if (model.total == 0) return "partial";
  return fmt::format("partial, {}%", model.bytes * 100 / model.total);
}

Answer list(const ModelsRequest& request, const ModelsTools& tools) {
  const std::string& root = request.settings.cache;
  std::vector<hub::CachedModel> models;
  for (const hub::CachedRepo& repo : hub::scan_cache(tools.fs, root)) {
    std::ranges::move(hub::models_of(repo, hub::CacheLayout(root, repo.repo)),
                      std::back_inserter(models));
  }
  if (request.json) {
    json value = {{"folder", root}, {"models", json::array()}};
    for (const hub::CachedModel& model : models) value["models"].push_back(json_of(model));
    return ModelsAnswer{.text = dump_json(value)};
  }
  if (models.empty()) {
    return ModelsAnswer{
        .text = fmt::format("no model in {}\n`samovar models pull OWNER/NAME` downloads one\n",
                            printable(root))};
  }
  Table table({{"NAME"}, {"QUANT"}, {"SIZE", true}, {"STATE"}, {"DATE"}, {"PATH"}});
  std::uint64_t bytes = 0;
  for (const hub::CachedModel& model : models) {
    bytes += model.bytes;
    table.add({printable(model.repo), printable(model.quant), format_bytes(model.bytes),
               state_of(model), format_age(tools.clock.wall_seconds() - model.modified),
               printable(model.path)});
  }
  return ModelsAnswer{.text =
                          table.text() + fmt::format("{} model{}, {}\n", models.size(),
                                                     plural(models.size()), format_bytes(bytes))};
}

Answer pull(const ModelsRequest& request, const ModelsTools& tools) {
  const auto path = tools.fetch(request.wish, request.settings);
  if (!path) return std::unexpected(path.error());
  if (!request.json) return ModelsAnswer{.text = *path + "\n"};
  return ModelsAnswer{.text = dump_json({{"name", request.wish.ref.repo}, {"path", *path}})};
}

// The repository as the cache spells it.
Result<hub::CachedRepo> find_repo(const ModelsRequest& request, const ModelsTools& tools) {
  auto repos = hub::scan_cache(tools.fs, request.settings.cache);
  const std::string& wanted = request.wish.ref.repo;
  auto found = std::ranges::find(repos, wanted, &hub::CachedRepo::repo);
  if (found == repos.end()) {
    found = std::ranges::find_if(repos, [&](const hub::CachedRepo& repo) {
      return net::lower(repo.repo) == net::lower(wanted);
    });
  }
  if (found != repos.end()) return std::move(*found);
  return fail(ErrorKind::not_found,
              fmt::format("nothing of {} is in {}", wanted, request.settings.cache), "",
              "`samovar models` lists what there is");
}

ModelsAnswer removal_answer(const hub::Removal& removal, const ModelsRequest& request) {
  if (request.json) {
    return {.text = dump_json({{"removed", removal.models},
                               {"bytes", removal.bytes},
                               {"kept_bytes", removal.kept},
                               {"dry_run", request.dry_run}})};
  }
  std::string text;
  for (const std::string& model : removal.models) text += "  " + printable(model) + "\n";
  text += fmt::format("{} {}\n", format_bytes(removal.bytes),
                      request.dry_run ? "would be free" : "are free again");
  if (removal.kept > 0) {
    text += fmt::format("{} stay: another file has the same content\n", format_bytes(removal.kept));
  }
  return {.text = (request.dry_run ? "would remove\n" : "removed\n") + text};
}

Answer rm(const ModelsRequest& request, const ModelsTools& tools) {
  const auto repo = find_repo(request, tools);
  if (!repo) return std::unexpected(repo.error());
  const hub::CacheLayout layout(request.settings.cache, repo->repo);
  const hub::Removal removal = hub::plan_removal(*repo, layout, request.wish.ref.quant);
  if (removal.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("{} has no {} in the cache", repo->repo,
                            request.wish.ref.quant.empty() ? "GGUF" : request.wish.ref.quant),
                "", "`samovar models` lists what there is");
  }
  if (request.dry_run) return removal_answer(removal, request);
  if (!request.yes) {
    std::string question;
    for (const std::string& model : removal.models) question += "  " + printable(model) + "\n";
    const auto agreed = tools.confirm(fmt::format("{}\n{}remove it and free {}? [y/N] ", repo->repo,
                                                  question, format_bytes(removal.bytes)));
    if (!agreed) {
      return fail(ErrorKind::invalid_argument, "There is no terminal to ask on", "--yes",
                  "Add --yes to remove without asking");
    }
    if (!*agreed) return ModelsAnswer{.code = kExitFailure, .error = "nothing was removed\n"};
  }
  const auto removed = hub::remove_models(tools.fs, layout, removal,
                                          fmt::format("process {} (samovar models rm)", getpid()));
  if (!removed) return std::unexpected(removed.error());
  return removal_answer(removal, request);
}

std::optional<bool> ask(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return std::nullopt;
  fmt::print(stderr, "{}", question);
  std::fflush(stderr);
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

}  // namespace

ModelsAnswer run_models(const ModelsRequest& request, const ModelsTools& tools) {
  auto answer = request.command == "pull" ? pull(request, tools)
                : request.command == "rm" ? rm(request, tools)
                                          : list(request, tools);
  if (answer) return std::move(*answer);
  const bool stopped = answer.error().kind == ErrorKind::cancelled && tools.stopped_code;
  return {stopped ? tools.stopped_code() : kExitFailure, "",
          fmt::format("samovar: {}\n", answer.error().describe())};
}

int models(const std::vector<std::string>& arguments) {
  const auto request = parse_models(arguments, process_environment());
  if (const auto code = answer_without_running(request)) return *code;
  StopSignals signals;
  PosixFs fs;
  const ModelsTools tools{
      .fs = fs,
      .clock = system_clock(),
      .confirm = ask,
      .fetch =
          [&signals](const hub::ModelWish& wish, const hub::HubSettings& settings) {
            return fetch_shown(wish, settings, signals, [](const std::string& line) {
              fmt::print(stderr, "samovar: {}\n", line);
            });
          },
      .stopped_code = [&signals] { return 128 + signals.received(); }};
  const ModelsAnswer answer = run_models(*request, tools);
  fmt::print("{}", answer.text);
  std::fflush(stdout);
  fmt::print(stderr, "{}", answer.error);
  return answer.code;
}

}  // namespace samovar::app
