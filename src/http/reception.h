// Reception: one thread that accepts connections and holds each until a whole request is there, so
// that other threads need not wait for clients to say what they want, but for the few cases that
// docs/decisions/reception.md names. Requests that wait for a thread are served in order. Slow,
// half-open and idle connections cost a descriptor, some bytes and an entry in one poll(); their
// number, their bytes and their time are bounded.
//
// start(), close() and end() belong to one thread; give_back() is for any. `serve` is called on the
// reception's thread and must not block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <poll.h>

#include "base/limits.h"
#include "base/result.h"
#include "http/connection.h"
#include "http/request_scan.h"
#include "http/sockets.h"

namespace samovar {

struct ReceptionOptions {
  std::size_t connections = limits::connections_max;   // here, without those that are being served
  std::size_t waiting = limits::waiting_requests_max;  // whole requests without a free thread
  std::size_t bytes = limits::waiting_bytes_max;       // buffered in all
  RequestBounds request;
  ConnectionTimeouts timeouts;
};

class Reception {
 public:
  // Takes a connection whose request can be served; false: no thread is free, leaves it. It is
  // asked again once a connection was given back. `overtakes`: requests that came before this one
  // wait, so it may have no thread that they could have.
  using Serve = std::function<bool(std::unique_ptr<Connection>&, bool overtakes)>;

  Reception(int listening, ReceptionOptions options, Serve serve);  // owns the socket
  ~Reception();                                                     // end()

  void start();

  // After a response. `keep`: another request may follow; else the client gets a moment to take
  // what is under way.
  void give_back(std::unique_ptr<Connection> connection, bool keep);

  void close();  // nothing is accepted or served any more, from when it returns
  void end();    // once nobody gives back any more: waits for the last clients, but not long

 private:
  using TimePoint = Connection::TimePoint;
  enum class Phase { open, closing, closed, ending };

  struct Guest {
    std::unique_ptr<Connection> connection;
    RequestScan scan;
    TimePoint deadline;
    TimePoint began = {};  // the first byte of its request came; zero: none yet
  };
  using Guests = std::list<Guest>;
  using Place = Guests::iterator;

  struct Returned {
    std::unique_ptr<Connection> connection;
    bool keep;
  };

  // What one round of poll() asks for, in the order of `polled_`, and of whom.
  struct Asked {
    Guests* list = nullptr;
    Place guest;
  };

  void run();
  void round();
  bool change_phase();  // false: the end
  void close_all();
  void take_returned();
  void serve_waiting();
  void gather();
  [[nodiscard]] int poll_timeout() const;
  void answer(const Asked& asked, short events);
  void accept_new();
  void let_in(int socket);
  void receive(Place guest);
  void look(Place guest, bool ended);
  void hand_over(Place guest);
  void refuse(Guests& list, Place guest, int status, const Error& error);
  void see_out(Guests& list, Place guest);
  void expire();
  bool evict_longest();
  void shed_bytes();
  [[nodiscard]] std::size_t count() const;

  int listening_;
  const ReceptionOptions options_;
  const Serve serve_;
  const WakePipe wake_;

  // Used by the reception's thread only.
  Guests arriving_;  // in the order in which they came or came back
  Guests waiting_;   // whole requests, in order
  Guests leaving_;   // refused or served, still taking the last bytes
  std::vector<pollfd> polled_;
  std::vector<Asked> asked_;
  TimePoint now_;
  TimePoint accept_again_;
  TimePoint warn_again_;
  std::size_t bytes_ = 0;  // buffered

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Returned> returned_;  // guarded by mutex_
  Phase phase_ = Phase::open;       // guarded by mutex_
  bool accepting_ = true;           // the reception's thread only

  std::thread thread_;
};

}  // namespace samovar
