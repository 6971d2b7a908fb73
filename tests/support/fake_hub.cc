#include "tests/support/fake_hub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/hash.h"
#include "base/hex_text.h"

namespace samovar::testing {
namespace {

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void answer(int socket, int status, const std::string& headers, const std::string& body) {
  send_all(socket, fmt::format("HTTP/1.1 {} Said\r\n{}Connection: close\r\nContent-Length: {}\r\n"
                               "\r\n{}",
                               status, headers, body.size(), body));
}

bool receive(int socket, HubRequest& request) {
  std::string all;
  while (all.find("\r\n\r\n") == std::string::npos) {
    char buffer[4096];
    const ssize_t count = ::recv(socket, buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    all.append(buffer, static_cast<std::size_t>(count));
  }
  request.head = all;
  const std::size_t begin = all.find(' ') + 1;
  request.path = all.substr(begin, all.find(' ', begin) - begin);
  return true;
}

bool has_token(const HubRequest& request, const std::string& token) {
  return token.empty() || request.header("Authorization") == "Bearer " + token;
}

}  // namespace

std::string hash_of(const std::string& text) {
  return hex_text(sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

std::string HubRequest::header(const std::string& name) const {
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + 2 + name.size() + 2;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

FakeHub::Listener FakeHub::listen_on_any() {
  Listener listener;
  listener.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener.socket, 16), 0);
  ::getsockname(listener.socket, reinterpret_cast<sockaddr*>(&address), &size);
  listener.port = ntohs(address.sin_port);
  return listener;
}

FakeHub::FakeHub(std::string repo)
    : repo_(std::move(repo)), hub_(listen_on_any()), storage_(listen_on_any()) {
  hub_.thread = std::thread([this] { accept_all(hub_, false); });
  storage_.thread = std::thread([this] { accept_all(storage_, true); });
}

FakeHub::~FakeHub() { stop(); }

void FakeHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  for (Listener* listener : {&hub_, &storage_}) {
    ::shutdown(listener->socket, SHUT_RDWR);
    listener->thread.join();
    ::close(listener->socket);
  }
  for (std::thread& worker : workers_) worker.join();
  for (const int socket : sockets_) ::close(socket);
}

// Of the names and the contents, as git's is.
std::string FakeHub::commit() {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const auto& [path, file] : files_) all += path + file.hash;
  return hash_of(all).substr(0, 40);
}

void FakeHub::put(const std::string& path, std::string content) {
  const std::lock_guard lock(mutex_);
  const std::string hash = hash_of(content);
  files_[path] = {std::move(content), hash, true};
}
void FakeHub::put_small(const std::string& path, std::string content) {
  const std::lock_guard lock(mutex_);
  const std::string hash = hash_of(content).substr(0, 40);
  files_[path] = {std::move(content), hash, false};
}
void FakeHub::set_pages(std::size_t files) {
  const std::lock_guard lock(mutex_);
  page_files_ = files;
}
void FakeHub::set_gated(std::string token) {
  const std::lock_guard lock(mutex_);
  gated_ = std::move(token);
}
void FakeHub::set_private(std::string token) {
  const std::lock_guard lock(mutex_);
  private_ = std::move(token);
}
void FakeHub::set_etag(std::string etag) {
  const std::lock_guard lock(mutex_);
  etag_ = std::move(etag);
}
void FakeHub::set_delay_ms(int delay) {
  const std::lock_guard lock(mutex_);
  delay_ms_ = delay;
}
void FakeHub::fail_content(ContentFault fault, int times) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < times; ++i) content_faults_.push_back(fault);
}
void FakeHub::fail_api(int status, int times, std::string headers) {
  const std::lock_guard lock(mutex_);
  api_status_ = status;
  api_times_ = times;
  api_headers_ = std::move(headers);
}

std::vector<HubRequest> FakeHub::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}
std::vector<HubRequest> FakeHub::content_requests() {
  auto all = requests();
  std::erase_if(all, [](const HubRequest& request) { return !request.storage; });
  return all;
}

void FakeHub::accept_all(const Listener& listener, bool storage) {
  for (;;) {
    const int socket = ::accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    if (stopping_) return;
    workers_.emplace_back([this, socket, storage] { serve(socket, storage); });
  }
}

void FakeHub::serve(int socket, bool storage) {
  HubRequest request{.storage = storage, .path = {}, .head = {}};
  if (receive(socket, request)) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    storage ? answer_storage(socket, request) : answer_hub(socket, request);
  }
  ::shutdown(socket, SHUT_RDWR);
}

std::string FakeHub::list_page(std::size_t page, std::string& link) {
  const std::string here = commit();
  const std::lock_guard lock(mutex_);
  const std::size_t most = page_files_ == 0 ? files_.size() : page_files_;
  std::string entries =
      page == 0 ? R"({"type":"directory","oid":"x","size":0,"path":"folder"})" : "";
  std::size_t index = 0;
  for (const auto& [path, file] : files_) {
    const std::size_t at = index++;
    if (most == 0 || at / most != page) continue;
    const std::string git = file.lfs ? std::string(40, 'a') : file.hash;
    const std::string lfs =
        file.lfs ? fmt::format(R"(,"lfs":{{"oid":"{}","size":{},"pointerSize":135}})", file.hash,
                               file.content.size())
                 : "";
    entries += fmt::format(R"({}{{"type":"file","oid":"{}","size":{},"path":"{}"{}}})",
                           entries.empty() ? "" : ",", git, file.content.size(), path, lfs);
  }
  if (most != 0 && (page + 1) * most < files_.size()) {
    link =
        fmt::format("Link: <{}/api/models/{}/tree/{}?recursive=true&cursor={}>; rel=\"next\"\r\n",
                    hub_.url(), repo_, here, page + 1);
  }
  return "[" + entries + "]";
}

void FakeHub::answer_hub(int socket, const HubRequest& request) {
  const std::string here = commit();
  const std::string api = "/api/models/" + repo_;
  const std::string content = fmt::format("/{}/resolve/{}/", repo_, here);
  std::unique_lock lock(mutex_);
  if (request.path.starts_with("/api/") && api_times_ > 0) {
    --api_times_;
    return answer(socket, api_status_, api_headers_, R"({"error":"ordered"})");
  }
  if (!has_token(request, private_) || request.path.find(repo_) == std::string::npos) {
    return answer(socket, 401, "X-Error-Code: RepoNotFound\r\n", R"({"error":"no"})");
  }
  const std::string page_of = "/tree/" + here;
  if (request.path == api + "/revision/main") {
    return answer(socket, 200, "", fmt::format(R"({{"id":"{}","sha":"{}"}})", repo_, here));
  }
  if (request.path.starts_with(api + page_of)) {
    const std::size_t cursor = request.path.find("cursor=");
    const std::size_t page = cursor == std::string::npos
                                 ? 0
                                 : std::strtoul(request.path.c_str() + cursor + 7, nullptr, 10);
    lock.unlock();
    std::string link;
    const std::string body = list_page(page, link);
    return answer(socket, 200, link, body);
  }
  const auto file = request.path.starts_with(content)
                        ? files_.find(request.path.substr(content.size()))
                        : files_.end();
  if (file == files_.end()) {
    return answer(socket, 404, "X-Error-Code: EntryNotFound\r\n", R"({"error":"no"})");
  }
  if (!has_token(request, gated_)) {
    return answer(socket, gated_.empty() ? 401 : 403, "X-Error-Code: GatedRepo\r\n", "");
  }
  answer(socket, 302,
         fmt::format("Location: {}/{}?signed=yes\r\nX-Repo-Commit: {}\r\nX-Linked-Size: {}\r\n"
                     "X-Linked-Etag: \"{}\"\r\n",
                     storage_.url(), file->second.hash, here, file->second.content.size(),
                     file->second.hash),
         "");
}

void FakeHub::wait_ms(int delay) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(delay), [this] { return stopping_; });
}

void FakeHub::answer_storage(int socket, const HubRequest& request) {
  std::string bytes;
  std::string etag;
  ContentFault fault;
  int delay = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::string hash = request.path.substr(1, request.path.find('?') - 1);
    for (const auto& [path, file] : files_) {
      if (file.hash == hash) bytes = file.content;
    }
    etag = etag_.empty() ? "\"" + hash.substr(0, 16) + "\"" : etag_;
    if (!content_faults_.empty()) {
      fault = content_faults_.front();
      content_faults_.pop_front();
    }
    delay = delay_ms_;
  }
  if (fault.status != 0) return answer(socket, fault.status, fault.headers, "");
  if (fault.flip && !bytes.empty()) bytes[bytes.size() / 2] ^= 1;
  const std::size_t total = bytes.size();
  std::size_t begin = 0;
  const std::string range = request.header("Range");
  const std::string condition = request.header("If-Range");
  const bool same = condition.empty() || condition == etag || fault.ignore_if_range;
  const bool partial = !range.empty() && same && !fault.ignore_range;
  if (partial) begin = std::strtoul(range.c_str() + std::string_view("bytes=").size(), nullptr, 10);
  if (begin > total || (begin == total && total > 0)) {
    return answer(socket, 416, fmt::format("Content-Range: bytes */{}\r\n", total), "");
  }
  std::string head = fmt::format("HTTP/1.1 {} Said\r\nETag: {}\r\nConnection: close\r\n",
                                 partial ? 206 : 200, etag);
  if (partial) head += fmt::format("Content-Range: bytes {}-{}/{}\r\n", begin, total - 1, total);
  if (!fault.too_long) head += fmt::format("Content-Length: {}\r\n", total - begin);
  send_all(socket, head + "\r\n");
  std::string_view rest = std::string_view(bytes).substr(begin);
  if (fault.drop_after) rest = rest.substr(0, *fault.drop_after);
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  while (!rest.empty()) {
    if (delay > 0) wait_ms(delay);
    send_all(socket, rest.substr(0, kPiece));
    rest.remove_prefix(std::min(rest.size(), kPiece));
  }
  if (fault.too_long) send_all(socket, "x");
  if (fault.stall) wait_ms(60'000);
}

}  // namespace samovar::testing
