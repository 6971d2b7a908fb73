#include "app/model_source.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "fs/posix_fs.h"
#include "net/url.h"

namespace samovar::app {
namespace {

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? std::string() : value;
}

bool is_true(const std::string& value) {
  static constexpr std::array<std::string_view, 4> words = {"1", "true", "yes", "on"};
  return std::ranges::find(words, net::lower(value)) != words.end();
}

std::string cache_folder(const Environment& environment) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (auto folder = value_of(environment, name); !folder.empty()) return folder;
  }
  if (const auto home = value_of(environment, "HF_HOME"); !home.empty()) return home + "/hub";
  const std::string cache = value_of(environment, "XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/huggingface/hub";
  const std::string home = value_of(environment, "HOME");
  return home.empty() ? std::string() : home + "/.cache/huggingface/hub";
}

bool is_sound_token(const std::string& token) {
  return std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

Result<hub::HubSettings> hub_settings(const Environment& environment, const std::string& token,
                                      bool offline) {
  hub::HubSettings settings;
  for (const char* name : {"MODEL_ENDPOINT", "HF_ENDPOINT"}) {
    if (auto endpoint = value_of(environment, name); !endpoint.empty()) {
      settings.endpoint = std::move(endpoint);
    }
  }
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  settings.token = token.empty() ? value_of(environment, "HF_TOKEN") : token;
  if (!is_sound_token(settings.token)) {
    return fail(ErrorKind::invalid_argument, "the token has blanks or other odd characters",
                token.empty() ? "HF_TOKEN" : "--hf-token", "Give the token alone");
  }
  settings.offline = offline || is_true(value_of(environment, "HF_HUB_OFFLINE"));
  settings.cache = cache_folder(environment);
  if (settings.cache.empty()) {
    return fail(ErrorKind::invalid_argument, "no home folder is known for downloaded models", "",
                "Set HF_HOME or HF_HUB_CACHE");
  }
  return settings;
}

Result<std::string> fetch_shown(const hub::ModelWish& wish, const hub::HubSettings& settings,
                                StopSignals& signals, ProgressDisplay::Say say) {
  PosixFs fs;
  ProgressDisplay display(std::move(say), download_progress());
  const hub::HubTools tools{
      .fs = fs,
      .pause = [&signals](Micros time) { return !signals.wait_for(time); },
      .say = [&display](const std::string& line) { display.say(line); },
      .progress = [&display](const hub::FetchProgress& now) { display.progress(now); }};
  signals.begin_patient();
  auto path = hub::fetch_model(wish, settings, tools);
  signals.end_patient();
  return path;
}

}  // namespace samovar::app
