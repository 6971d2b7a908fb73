#include "client/transfer.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "client/text.h"
#include "net/curl_easy.h"
#include "net/http_head.h"
#include "net/url.h"

namespace samovar::client {
namespace {

using net::host_of;
using net::is_local;

constexpr Micros kConnectTimeout = 15 * kSecond;

// The address without the path, as the user gave it.
std::string server_of(const std::string& url) {
  const std::size_t path = url.find("/v1/");
  return url.substr(0, path);
}

Error connection_error(CURLcode code, const std::string& words, const std::string& url,
                       bool answered) {
  const std::string server = server_of(url);
  Error error{ErrorKind::unavailable, "", "", ""};
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      error.message = "nothing listens at " + server;
      error.remedy = is_local(url) ? "start a server with `samovar serve -m MODEL.gguf`, or name "
                                     "another one with --url"
                                   : "check that the server runs, and --url";
      return error;
    case CURLE_COULDNT_RESOLVE_HOST:
      error.message = "there is no host " + std::string(host_of(url));
      error.remedy = "check --url and the network";
      return error;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      error = {ErrorKind::invalid_argument, server + " is no address of a server", "--url",
               "write it like http://127.0.0.1:8080"};
      return error;
    case CURLE_OPERATION_TIMEDOUT:
      error.message = answered ? server + " stopped answering" : server + " does not answer";
      error.remedy = "check that the server runs, and --url";
      return error;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
      error.message = fmt::format("no safe connection to {}: {}", server, words);
      error.remedy = "check the server's certificate, or whether it speaks http instead of https";
      return error;
    default:
      error.message = fmt::format("the connection to {} broke off{}: {}", server,
                                  answered ? " in mid-reply" : "", words);
      return error;
  }
}

}  // namespace

struct Transfer::State {
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  curl_slist* header_list = nullptr;
  std::string url;
  std::string request;
  std::string body;
  net::HttpHead head;
  std::optional<Error> failure;
  net::CurlWords words = {};
  int status = 0;

  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* self) {
    static_cast<State*>(self)->body.append(bytes, count);
    return count;
  }

  static std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* self) {
    static_cast<State*>(self)->header_line({bytes, count});
    return count;
  }

  void header_line(std::string_view line) {
    if (head.add_line(line)) status = head.status();
  }

  void set(const HttpCall& call) {
    net::set_common(easy, url, kConnectTimeout);
    ::curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout / kMillisecond));
    ::curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, words.data());
    ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    add_header("Accept: text/event-stream, application/json");
    if (!call.key.empty()) add_header("Authorization: Bearer " + call.key);
    if (call.body) {
      add_header("Content-Type: application/json");
      add_header("Expect:");  // libcurl would ask and wait a second before a long body
      ::curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.data());
      ::curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request.size()));
    }
    for (const std::string& line : call.headers) add_header(line);
    ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, header_list);
  }

  void add_header(const std::string& line) {
    header_list = ::curl_slist_append(header_list, line.c_str());
  }

  void advance() {
    int still = 0;
    ::curl_multi_perform(multi, &still);
    int left = 0;
    while (const CURLMsg* message = ::curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      if (code != CURLE_OK) {
        failure = connection_error(code, net::describe(code, words), url, status != 0);
      }
      drop();
      return;
    }
  }

  // An exchange that has not ended takes its connection with it.
  void drop() {
    if (easy != nullptr) {
      ::curl_multi_remove_handle(multi, easy);
      ::curl_easy_cleanup(easy);
    }
    ::curl_slist_free_all(header_list);
    easy = nullptr;
    header_list = nullptr;
  }
};

Transfer::Transfer() : state_(new State) {
  net::start_curl();
  state_->multi = ::curl_multi_init();
}

Transfer::~Transfer() {
  state_->drop();
  ::curl_multi_cleanup(state_->multi);
}

void Transfer::start(const HttpCall& call) {
  State& state = *state_;
  state.drop();
  state.url = call.url;
  state.request = call.body.value_or("");
  state.body.clear();
  state.head = {};
  state.failure.reset();
  state.words[0] = 0;
  state.status = 0;
  state.easy = ::curl_easy_init();
  state.set(call);
  ::curl_multi_add_handle(state.multi, state.easy);
  state.advance();
}

void Transfer::cancel() { state_->drop(); }

void Transfer::wait(std::span<const int> watched, Micros timeout) {
  std::vector<curl_waitfd> extra;
  for (const int descriptor : watched) extra.push_back({descriptor, CURL_WAIT_POLLIN, 0});
  const bool anything = running() && state_->body.empty();
  ::curl_multi_poll(state_->multi, extra.data(), static_cast<unsigned>(extra.size()),
                    anything || !running() ? static_cast<int>(timeout / kMillisecond) : 0, nullptr);
  if (running()) state_->advance();
}

bool Transfer::running() const { return state_->easy != nullptr; }
int Transfer::status() const { return state_->status; }
const std::optional<Error>& Transfer::failure() const { return state_->failure; }
std::string Transfer::take_body() { return std::exchange(state_->body, {}); }

std::string Transfer::header(std::string_view name) const {
  return valid_utf8(state_->head.header(name));
}

}  // namespace samovar::client
