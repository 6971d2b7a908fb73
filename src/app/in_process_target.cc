#include "app/in_process_target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/version.h"
#include "bench/answer_reader.h"
#include "bench/server_facts.h"
#include "client/completion_chunk.h"

namespace samovar::app {
namespace {

constexpr Micros kDrain = 30 * kSecond;

// Takes the stream as a client would.
class Reading final : public BodyWriter {
 public:
  Reading(bench::AnswerReader& reader, const Clock& clock, const bench::Stop& ends,
          std::size_t pieces)
      : reader_(reader), clock_(clock), ends_(ends), pieces_(pieces) {}

  bool write(std::string_view bytes) override {
    reader_.feed(bytes, clock_.now());
    return !client_gone();
  }
  bool client_gone() override {
    ended_ = ended_ || ends_();
    return ended_ || enough();
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool enough() const {
    return pieces_ > 0 && reader_.pieces() >= pieces_ && !reader_.done();
  }

 private:
  bench::AnswerReader& reader_;
  const Clock& clock_;
  const bench::Stop& ends_;
  const std::size_t pieces_;
  bool ended_ = false;
};

// Header lines as a server would have parsed them.
Headers headers_of(const std::vector<std::string>& lines) {
  Headers headers = {{"Content-Type", "application/json"}};
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    headers.emplace_back(line.substr(0, colon),
                         value == std::string::npos ? std::string() : line.substr(value));
  }
  return headers;
}

}  // namespace

InProcessTarget::InProcessTarget(ServeOptions options, std::vector<std::string> flags,
                                 bool own_folder, const Clock& clock)
    : options_(std::move(options)),
      flags_(std::move(flags)),
      own_folder_(own_folder),
      clock_(clock),
      folder_(options_.store_dir) {
  if (options_.store && folder_.in_memory()) lacks_.cold_files = bench::kStoreInMemory;
  if (options_.store) return;
  lacks_.restart = "it keeps nothing on disk (--no-store)";
  lacks_.cold_files = lacks_.stored_bytes = lacks_.restart;
}

InProcessTarget::~InProcessTarget() {
  end();
  std::error_code ignored;
  if (own_folder_) std::filesystem::remove_all(options_.store_dir, ignored);
}

Result<std::unique_ptr<InProcessTarget>> InProcessTarget::load(ServeOptions options,
                                                               std::vector<std::string> flags,
                                                               const Clock& clock) {
  const bool own = options.store && options.store_dir == default_store_dir();
  options.announce = false;
  if (own) options.store_dir += fmt::format("-bench-{}", ::getpid());
  std::unique_ptr<InProcessTarget> target(
      new InProcessTarget(std::move(options), std::move(flags), own, clock));
  if (auto status = target->start(); !status) return std::unexpected(status.error());
  return target;
}

Status InProcessTarget::start() {
  auto service = Service::load(options_);
  if (!service) return std::unexpected(service.error());
  service_ = std::move(*service);
  return {};
}

void InProcessTarget::end() {
  if (service_ == nullptr) return;
  service_->close();
  service_->drain(kDrain);
  service_->stop();
  service_.reset();
}

bench::Answer InProcessTarget::ask(const bench::Ask& ask, const bench::Stop& stop) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/v1/chat/completions";
  request.headers = headers_of(ask.headers);
  request.body = ask.body;
  request.arrived = clock_.now();
  bench::AnswerReader reader(request.arrived);
  const Micros deadline = ask.timeout > 0 ? request.arrived + ask.timeout : 0;
  const bench::Stop ends = [&] {
    return (stop && stop()) || (deadline > 0 && clock_.now() > deadline);
  };
  if (service_ == nullptr) {
    return reader.finish(clock_.now(), Error{ErrorKind::unavailable,
                                             "the server did not come back after a restart"});
  }
  Reading reading(reader, clock_, ends, ask.pieces);
  request.client_gone = ends;
  const HttpResponse response = service_->handle(request);
  const std::string* miss = find_header(response.headers, "x-samovar-miss");
  reader.head(response.status, miss == nullptr ? "" : *miss);
  if (response.stream) {
    response.stream(reading);
  } else {
    reader.feed(response.body, clock_.now());
  }
  const Micros now = clock_.now();
  std::optional<Error> failure;
  bool stopped = false;
  if (reading.ended() || (!reader.done() && ends())) {
    stopped = stop && stop();
    failure = Error{ErrorKind::cancelled, stopped ? "stopped" : "the time for it is over"};
  } else if (reading.enough()) {
    reader.cut();
  } else if (response.status < 200 || response.status >= 300) {
    failure = Error{ErrorKind::invalid_argument, client::error_text(reader.refused())};
  }
  bench::Answer answer = reader.finish(now, std::move(failure));
  answer.stopped = stopped;
  return answer;
}

Result<bench::TargetFacts> InProcessTarget::facts(const bench::Stop& /*stop*/) {
  HttpRequest request;
  request.method = "GET";
  request.path = "/v1/models";
  bench::TargetFacts facts = bench::read_facts(service_->handle(request).body, "");
  facts.server = fmt::format("samovar {} in this process, without HTTP", kVersion);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(options_.model, error);
  if (!error) facts.model_bytes = bytes;
  facts.model = bench::base_name(options_.model);
  facts.flags = flags_;
  return facts;
}

Status InProcessTarget::restart(const bench::Stop& /*stop*/) {
  end();
  return start();
}

}  // namespace samovar::app
