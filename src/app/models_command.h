// `samovar models COMMAND`: the models in the shared cache of the hub: listed, downloaded, removed.
// parse_models() makes a ModelsRequest of the words, run_models() does what it says and answers in
// text, models() is both with the machine's file system, clock and environment. Called once, on the
// main thread. Errors go to stderr as one message.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/model_source.h"
#include "base/clock.h"
#include "base/result.h"
#include "fs/cache_fs.h"
#include "hub/fetch_model.h"
#include "hub/repo_ref.h"

namespace samovar::app {

struct ModelsRequest {
  std::string command;  // "ls", "pull", "rm"
  std::string help;     // not empty: print this and do nothing
  bool json = false;
  bool yes = false;           // rm: do not ask
  bool dry_run = false;       // rm
  hub::ModelWish wish;        // pull, rm
  hub::HubSettings settings;  //
};

// `arguments` are the words after "models".
[[nodiscard]] Result<ModelsRequest> parse_models(const std::vector<std::string>& arguments,
                                                 const Environment& environment);

struct ModelsAnswer {
  int code = 0;
  std::string text;   // for stdout
  std::string error;  // for stderr
};

struct ModelsTools {
  CacheFs& fs;
  const Clock& clock;
  // Shows the question and waits for yes or no; nullopt: there is nobody to ask.
  std::function<std::optional<bool>(const std::string& question)> confirm;
  std::function<Result<std::string>(const hub::ModelWish& wish, const hub::HubSettings& settings)>
      fetch;
  // Exit code when the user stopped a download.
  std::function<int()> stopped_code;
};

[[nodiscard]] ModelsAnswer run_models(const ModelsRequest& request, const ModelsTools& tools);

[[nodiscard]] int models(const std::vector<std::string>& arguments);

}  // namespace samovar::app
