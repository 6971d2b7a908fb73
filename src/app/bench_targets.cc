#include "app/bench_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

#include "bench/server_facts.h"
#include "client/transfer.h"

namespace samovar::app {
namespace {

// What stands behind these is no business of a report's readers.
constexpr std::array<std::string_view, 6> kHidden = {"--restart-cmd", "--key-file", "--flags",
                                                     "--api-key",     "--hf-token", "--extra"};

bool is_hidden(std::string_view flag) { return std::ranges::find(kHidden, flag) != kHidden.end(); }

std::unexpected<Error> refuse(std::string message, std::string flag, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(flag), std::move(remedy));
}

// "a=http://user:password@host:1/v1" without the user.
std::string without_user(std::string word) {
  const std::size_t host = word.find("://") + 3;
  const std::size_t at = word.substr(0, word.find_first_of("/?#", host)).rfind('@');
  if (at != std::string::npos && at > host) word.erase(host, at + 1 - host);
  return word;
}

std::string shown_value(const std::string& word) {
  return word.find("://") != std::string::npos ? without_user(word) : bench::base_name(word);
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// "NAME=VALUE", or "VALUE" if there is only one it can be for.
Status give(BenchRequest& request, const std::vector<std::string>& words, const char* flag,
            const std::function<void(std::size_t, std::string)>& set) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals == std::string::npos ? 0 : equals);
    const auto named = std::ranges::find(request.against, name, &bench::HttpTargetOptions::name);
    if (named != request.against.end()) {
      set(static_cast<std::size_t>(named - request.against.begin()), word.substr(equals + 1));
    } else if (request.against.size() == 1) {
      set(0, word);
    } else {
      return refuse(request.against.empty() ? "there is no --against that it is for"
                                            : "it does not begin with the name of an --against",
                    flag, fmt::format("write {} NAME=...", flag));
    }
  }
  return {};
}

}  // namespace

Status read_targets(BenchRequest& request, const BenchTargetWords& words, const std::string& key) {
  std::vector<std::string> names;
  if (request.own) names.emplace_back("samovar");
  for (const std::string& word : words.against) {
    bench::HttpTargetOptions target;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals == std::string::npos ? 0 : equals);
    const bool named = is_name(name);
    target.url = client::base_url(named ? word.substr(equals + 1) : word);
    target.name = named ? name : target.url.substr(target.url.find("://") + 3);
    target.key = key;
    if (std::ranges::find(names, target.name) != names.end()) {
      return refuse(fmt::format("two servers are called {}", target.name), "--against",
                    "name them apart: --against NAME=URL");
    }
    names.push_back(target.name);
    request.against.push_back(std::move(target));
  }
  if (names.empty()) {
    return refuse("nothing is named to measure", "--against",
                  "give -m MODEL.gguf, or --against URL of a running server");
  }
  auto& all = request.against;
  if (auto ok =
          give(request, words.restarts, "--restart-cmd",
               [&](std::size_t i, std::string text) { all[i].restart_command = std::move(text); });
      !ok) {
    return ok;
  }
  if (auto ok =
          give(request, words.folders, "--store-dir",
               [&](std::size_t i, std::string text) { all[i].store_folder = std::move(text); });
      !ok) {
    return ok;
  }
  return give(request, words.flags, "--flags", [&](std::size_t i, std::string text) {
    request.flags.emplace_back(all[i].name, std::move(text));
  });
}

std::vector<std::string> shown(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  bool hidden = false;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    if (hidden) {
      all.emplace_back("...");
      hidden = false;
    } else if (!word.starts_with("--") || equals == std::string::npos) {
      all.push_back(shown_value(word));
      hidden = is_hidden(word);
    } else {
      const std::string value = word.substr(equals + 1);
      all.push_back(flag + "=" + (is_hidden(flag) ? "..." : shown_value(value)));
    }
  }
  return all;
}

std::string shown_words(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& word : shown(arguments)) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace samovar::app
