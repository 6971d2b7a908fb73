// FakeHub: a server on this machine that imitates the Hugging Face hub as far as downloads go: the
// API's list of files, redirects to a storage that is another origin, LFS hashes, ranges, ETags,
// gated repositories; and the faults that a test orders, one for each request of content. Remembers
// what it was asked. One thread a connection, one request a connection. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace samovar::testing {

struct HubRequest {
  bool storage = false;  // asked of the storage, not of the hub
  std::string path;      // with its query
  std::string head;      // all lines

  [[nodiscard]] std::string header(const std::string& name) const;  // empty: not there
};

// What the storage does with one request, instead of answering it well.
struct ContentFault {
  int status = 0;                         // answers this and nothing else
  std::string headers = {};               // lines of that answer
  std::optional<std::size_t> drop_after;  // closes the connection after so many bytes
  bool stall = false;                     // ... or keeps it open and silent
  bool ignore_range = false;              // sends the whole with 200
  bool ignore_if_range = false;           // sends the range whatever the ETag
  bool flip = false;                      // one wrong bit
  bool too_long = false;                  // one byte more than there is, of unknown length
};

class FakeHub {
 public:
  explicit FakeHub(std::string repo = "test/tiny");
  ~FakeHub();
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;

  [[nodiscard]] std::string url() const { return hub_.url(); }
  [[nodiscard]] const std::string& repo() const { return repo_; }
  [[nodiscard]] std::string commit();

  void put(const std::string& path, std::string content);        // by LFS; makes a new commit
  void put_small(const std::string& path, std::string content);  // no LFS: no hash to check
  void set_pages(std::size_t files);    // files a page of the list; 0: one page
  void set_gated(std::string token);    // content wants this token; the list does not
  void set_private(std::string token);  // everything does
  void set_etag(std::string etag);      // of all content; else it follows from the content
  void set_delay_ms(int delay);         // before every 64 KiB of content
  void fail_content(ContentFault fault, int times = 1);
  void fail_api(int status, int times, std::string headers = "");
  void stop();  // nothing listens any more

  std::vector<HubRequest> requests();
  std::vector<HubRequest> content_requests();  // of the storage

 private:
  struct File {
    std::string content;
    std::string hash;
    bool lfs = true;
  };
  struct Listener {
    int socket = -1;
    int port = 0;
    std::thread thread = {};
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }
  };
  static Listener listen_on_any();
  void accept_all(const Listener& listener, bool storage);
  void serve(int socket, bool storage);
  void answer_hub(int socket, const HubRequest& request);
  void answer_storage(int socket, const HubRequest& request);
  std::string list_page(std::size_t page, std::string& link);
  void wait_ms(int delay);

  const std::string repo_;
  Listener hub_;
  Listener storage_;
  std::mutex mutex_;
  std::condition_variable changed_;

  // All guarded by mutex_.
  std::map<std::string, File> files_;
  std::deque<ContentFault> content_faults_;
  int api_status_ = 0;
  int api_times_ = 0;
  std::string api_headers_;
  std::string gated_;
  std::string private_;
  std::string etag_;
  std::size_t page_files_ = 0;
  int delay_ms_ = 0;
  bool stopping_ = false;
  std::vector<HubRequest> requests_;
  std::vector<int> sockets_;
  std::vector<std::thread> workers_;
};

// The SHA-256 of a text, hexadecimal.
[[nodiscard]] std::string hash_of(const std::string& text);

}  // namespace samovar::testing
