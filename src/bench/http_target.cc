#include "bench/http_target.h"

#include <fmt/format.h>

#include <utility>

#include "bench/answer_reader.h"
#include "bench/server_facts.h"
#include "bench/shell_command.h"

namespace samovar::bench {
namespace {

constexpr Micros kPoll = 100 * kMillisecond;
constexpr Micros kQuestionTimeout = 10 * kSecond;
constexpr Micros kCommandWithin = 120 * kSecond;

// The chat's errors speak of its own flags.
Error for_bench(Error error) {
  if (error.field == "--url") error.field = "--against";
  if (error.kind == ErrorKind::unavailable)
    error.remedy = "check that the server runs, and --against";
  if (error.kind == ErrorKind::unauthorized)
    error.remedy = "set SAMOVAR_API_KEY, or give --key-file";
  if (error.remedy.starts_with('/')) error.remedy = "see the server's log";
  return error;
}

}  // namespace

// A connection for as long as one exchange takes.
struct HttpTarget::Lease {
  explicit Lease(HttpTarget& from) : owner(from) {
    const std::lock_guard lock(owner.mutex_);
    if (!owner.idle_.empty()) {
      transfer = std::move(owner.idle_.back());
      owner.idle_.pop_back();
    } else {
      transfer = std::make_unique<client::Transfer>();
    }
  }
  ~Lease() {
    const std::lock_guard lock(owner.mutex_);
    owner.idle_.push_back(std::move(transfer));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  HttpTarget& owner;
  std::unique_ptr<client::Transfer> transfer;
};

HttpTarget::HttpTarget(HttpTargetOptions options, const Clock& clock)
    : options_([&options] {
        options.url = client::base_url(std::move(options.url));
        return std::move(options);
      }()),
      clock_(clock),
      store_(options_.store_folder) {
  if (options_.restart_command.empty()) lacks_.restart = "no --restart-cmd was given";
  if (options_.store_folder.empty()) {
    lacks_.cold_files = lacks_.stored_bytes = "the folder of its store is not known (--store-dir)";
  } else if (store_.in_memory()) {
    lacks_.cold_files = kStoreInMemory;
  }
}

HttpTarget::~HttpTarget() = default;

Answer HttpTarget::ask(const Ask& ask, const Stop& stop) {
  const Lease lease(*this);
  client::Transfer& transfer = *lease.transfer;
  AnswerReader reader(clock_.now());
  transfer.start({.url = options_.url + "/v1/chat/completions",
                  .body = ask.body,
                  .key = options_.key,
                  .timeout = ask.timeout,
                  .headers = ask.headers});
  bool headed = false;
  bool stopped = false;
  const auto take = [&] {
    if (!headed && transfer.answered()) {
      headed = true;
      reader.head(transfer.status(), transfer.header("x-samovar-miss"));
    }
    const Micros now = clock_.now();
    const std::string bytes = transfer.take_body();
    if (!bytes.empty()) reader.feed(bytes, now);
  };
  const auto enough = [&] {
    return ask.pieces > 0 && reader.pieces() >= ask.pieces && !reader.done();
  };
  take();
  while (transfer.running() && !stopped && !enough()) {
    transfer.wait({}, kPoll);
    take();
    stopped = stop && stop();
  }
  const Micros now = clock_.now();
  std::optional<Error> failure;
  if (!stopped && enough()) {
    transfer.cancel();
    reader.cut();
  } else if (stopped) {
    transfer.cancel();
    failure = Error{ErrorKind::cancelled, "stopped"};
  } else if (transfer.failure()) {
    failure = for_bench(*transfer.failure());
  } else if (transfer.status() < 200 || transfer.status() >= 300) {
    failure = for_bench(client::refusal(transfer.status(), reader.refused(), options_.url,
                                        transfer.header("retry-after")));
  }
  Answer answer = reader.finish(now, std::move(failure));
  answer.stopped = stopped;
  return answer;
}

Result<std::string> HttpTarget::get(const std::string& path, const Stop& stop) {
  const Lease lease(*this);
  client::Transfer& transfer = *lease.transfer;
  transfer.start({.url = options_.url + path,
                  .body = std::nullopt,
                  .key = options_.key,
                  .timeout = kQuestionTimeout});
  std::string body;
  while (transfer.running()) {
    transfer.wait({}, kPoll);
    body += transfer.take_body();
    if (!stop || !stop()) continue;
    transfer.cancel();
    return fail(ErrorKind::cancelled, "stopped");
  }
  body += transfer.take_body();
  if (transfer.failure()) return std::unexpected(for_bench(*transfer.failure()));
  if (transfer.status() < 200 || transfer.status() >= 300) {
    return std::unexpected(for_bench(
        client::refusal(transfer.status(), body, options_.url, transfer.header("retry-after"))));
  }
  return body;
}

Result<TargetFacts> HttpTarget::facts(const Stop& stop) {
  const auto models = get("/v1/models", stop);
  if (!models && models.error().kind != ErrorKind::not_found) {
    return std::unexpected(models.error());
  }
  const auto props = get("/props", stop);  // llama-server's
  return read_facts(models.value_or(""), props.value_or(""));
}

Status HttpTarget::answers(const std::string& path, const Stop& stop) {
  const auto body = get(path, stop);
  if (body || body.error().kind == ErrorKind::not_found) return {};
  return std::unexpected(body.error());
}

Status HttpTarget::wait_ready(const Stop& stop, Micros within) {
  const Micros deadline = clock_.now() + within;
  for (;;) {
    Status ready = answers("/health", stop);
    if (ready) ready = answers("/v1/models", stop);
    if (ready) return {};
    if (stop && stop()) return fail(ErrorKind::cancelled, "stopped");
    if (within == 0) return ready;
    if (clock_.now() > deadline) {
      return fail(ErrorKind::unavailable,
                  fmt::format("{} was not ready within {} s: {}", name(), within / kSecond,
                              ready.error().message),
                  options_.restart_command.empty() ? "--against" : "--restart-cmd",
                  "see the server's log");
    }
    const Lease lease(*this);
    lease.transfer->wait({}, kPoll);
  }
}

Status HttpTarget::restart(const Stop& stop) {
  if (!lacks_.restart.empty()) {
    return fail(ErrorKind::invalid_argument, lacks_.restart, "--restart-cmd",
                "give a command that restarts the server");
  }
  {
    // Connections to the old server are of no use.
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }
  if (auto status = run_shell(options_.restart_command, kCommandWithin, clock_, stop); !status) {
    return status;
  }
  return wait_ready(stop, options_.ready_within);
}

}  // namespace samovar::bench
