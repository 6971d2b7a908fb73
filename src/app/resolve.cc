// What depends on other options, on files or on the machine.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "app/model_source.h"
#include "app/options.h"
#include "fs/posix_fs.h"
#include "hub/local_model.h"
#include "hub/repo_ref.h"

namespace samovar::app {

namespace {

std::unexpected<Error> refuse(std::string message, std::string field, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(field), std::move(remedy));
}

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

Result<std::string> read_file(const std::string& path, const std::string& flag) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse("cannot read " + path, flag, "Check the path and its permissions");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Keys that others can read are no keys, so the file's mode is checked as ssh does.
Status read_key_file(ServeOptions& options) {
  struct stat info = {};
  const std::string& path = options.api_key_file;
  if (stat(path.c_str(), &info) != 0) {
    return refuse("cannot read " + path, "--api-key-file", "Check the path");
  }
  if ((info.st_mode & 077U) != 0) {
    return refuse(path + " can be read or changed by other users", "--api-key-file",
                  "Make it private: chmod 600 " + path);
  }
  auto text = read_file(path, "--api-key-file");
  if (!text) return std::unexpected(text.error());
  const std::size_t before = options.api_keys.size();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    // Blanks around a key cannot be sent: header values are trimmed.
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    options.api_keys.push_back(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
  }
  if (options.api_keys.size() == before) {
    return refuse(path + " holds no key", "--api-key-file", "Write one key a line");
  }
  return {};
}

Status resolve_keys(ServeOptions& options) {
  if (const char* key = std::getenv("SAMOVAR_API_KEY"); key != nullptr && *key != '\0') {
    options.api_keys.emplace_back(key);
  }
  if (options.api_key_file.empty()) return {};
  return read_key_file(options);
}

Status resolve_template(ServeOptions& options) {
  if (options.chat_template_file.empty()) return {};
  if (!options.chat_template.empty()) {
    return refuse("two chat templates are given", "--chat-template-file",
                  "Use one of --chat-template and --chat-template-file");
  }
  auto text = read_file(options.chat_template_file, "--chat-template-file");
  if (!text) return std::unexpected(text.error());
  options.chat_template = std::move(*text);
  return {};
}

// What -hf names is looked for later: that may take hours.
Status resolve_model(ServeOptions& options) {
  if (!options.hf_repo.empty()) {
    if (!options.model.empty()) {
      return refuse("two models are given", "--model", "Use one of --model and --hf-repo");
    }
    const auto ref = hub::parse_repo_ref(options.hf_repo, "--hf-repo");
    if (!ref) return std::unexpected(ref.error());
    const auto settings = hub_settings(process_environment(), options.hf_token, options.offline);
    if (!settings) return std::unexpected(settings.error());
    return {};
  }
  if (!options.hf_file.empty()) {
    return refuse("a file of no repository is named", "--hf-file", "Name one with --hf-repo");
  }
  if (options.model.empty()) {
    return refuse("no model is given", "--model",
                  "Pass a GGUF file: samovar serve -m model.gguf, or a repository of the hub: "
                  "samovar serve -hf OWNER/NAME");
  }
  PosixFs fs;
  auto path = hub::local_model(fs, options.model);
  if (!path) return std::unexpected(path.error());
  options.model = std::move(*path);
  if (access(options.model.c_str(), R_OK) != 0) {
    return refuse("cannot read " + options.model, "--model", "Check the path and its permissions");
  }
  return {};
}

}  // namespace

std::string default_store_dir() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/samovar/store";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/samovar/store";
  return {};
}

Status resolve(ServeOptions& options) {
  if (const auto status = resolve_model(options); !status) return status;
  if (options.verbose) options.log_level = "debug";
  if (options.sequences == 0) options.sequences = std::max(8, 2 * options.parallel);
  if (options.sequences < options.parallel) {
    return refuse("there are fewer resident conversations than replies at the same time",
                  "--sequences",
                  "Make it at least --parallel, which is " + std::to_string(options.parallel));
  }
  options.ubatch_size = std::min(options.ubatch_size, options.batch_size);
  // Fewer threads than turns would make clients wait unseen instead of getting a clear 429.
  if (options.http_threads == 0) {
    options.http_threads = std::clamp(options.queue + options.parallel + 128, 512, 4'096);
  }
  if (!options.anchor_memory) {
    options.anchor_memory = std::min(std::uint64_t{4} << 30, physical_memory() / 8);
  }
  if (!options.store_buffers) {
    options.store_buffers = std::min(std::uint64_t{512} << 20, physical_memory() / 16);
  }
  constexpr std::uint64_t kBuffersMin = std::uint64_t{4} << 20;
  if (options.store && *options.store_buffers < kBuffersMin) {
    return refuse("too little for bytes on their way to and from the disk", "--store-buffers",
                  "Give at least 4M, or use --no-store");
  }
  if (options.store && options.store_dir.empty()) {
    options.store_dir = default_store_dir();
    if (options.store_dir.empty()) {
      return refuse("no home folder is known for the store", "--store-dir",
                    "Name a folder, or use --no-store");
    }
  }
  if (options.record_redact && options.record.empty()) {
    return refuse("nothing is recorded", "--record-redact", "Name the trace's file with --record");
  }
  if (const auto status = resolve_template(options); !status) return status;
  return resolve_keys(options);
}

}  // namespace samovar::app
