#include "http/reception.h"

#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "http/refusals.h"

namespace samovar {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kAcceptAtOnce = 64;
constexpr milliseconds kAcceptPause{100};  // after the system had no descriptor for us
constexpr milliseconds kWarnPause{60'000};
constexpr milliseconds kLastLinger{100};  // when the server ends
constexpr std::size_t kFixedEntries = 2;  // of poll(): the pipe and the listening socket

Error too_slow() {
  return {ErrorKind::invalid_argument, "the request did not come to its end in time", "",
          "send head and body without long pauses"};
}

Error too_many(const char* what) {
  return {ErrorKind::unavailable, std::string("the server has too many ") + what, "",
          "try again soon"};
}

}  // namespace

Reception::Reception(int listening, ReceptionOptions options, Serve serve)
    : listening_(listening), options_(options), serve_(std::move(serve)) {
  set_nonblocking(listening);
}

Reception::~Reception() { end(); }

void Reception::start() {
  thread_ = std::thread([this] { run(); });
}

void Reception::give_back(std::unique_ptr<Connection> connection, bool keep) {
  {
    const std::lock_guard lock(mutex_);
    returned_.push_back({std::move(connection), keep});
  }
  wake_.wake();
}

void Reception::close() {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable() || phase_ != Phase::open) return;
  phase_ = Phase::closing;
  wake_.wake();
  changed_.wait(lock, [this] { return phase_ == Phase::closed; });
}

void Reception::end() {
  close();
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::ending;
  }
  wake_.wake();
  if (thread_.joinable()) thread_.join();
  if (listening_ >= 0) ::close(std::exchange(listening_, -1));
}

// --- the thread ---

void Reception::run() {
  while (change_phase()) round();
}

void Reception::round() {
  take_returned();
  gather();
  const int count = ::poll(polled_.data(), static_cast<nfds_t>(polled_.size()), poll_timeout());
  now_ = steady_clock::now();
  if (count > 0) {
    wake_.clear();
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const short events = polled_[i + kFixedEntries].revents;
      if (events != 0) answer(asked_[i], events);
    }
    shed_bytes();
    if (polled_[1].revents != 0) accept_new();
  }
  expire();
}

bool Reception::change_phase() {
  std::unique_lock lock(mutex_);
  now_ = steady_clock::now();
  if (phase_ == Phase::closing) {
    close_all();
    phase_ = Phase::closed;
    changed_.notify_all();
  }
  if (phase_ != Phase::ending) return true;
  if (returned_.empty() && leaving_.empty()) return false;
  for (Guest& guest : leaving_) guest.deadline = std::min(guest.deadline, now_ + kLastLinger);
  return true;
}

// Who has not said all yet is sent away without a word; who has gets an answer.
void Reception::close_all() {
  accepting_ = false;
  ::close(std::exchange(listening_, -1));
  arriving_.clear();
  const Error error = {ErrorKind::unavailable, "the server is shutting down"};
  while (!waiting_.empty()) refuse(waiting_, waiting_.begin(), 503, error);
}

void Reception::take_returned() {
  std::vector<Returned> returned;
  {
    const std::lock_guard lock(mutex_);
    returned.swap(returned_);
  }
  serve_waiting();  // before what the returned ones ask next: their threads are free
  for (Returned& back : returned) {
    arriving_.push_back(
        {std::move(back.connection), RequestScan(options_.request), now_ + options_.timeouts.idle});
    const Place guest = std::prev(arriving_.end());
    if (!back.keep || !accepting_) {
      see_out(arriving_, guest);
      continue;
    }
    if (guest->connection->buffered().empty()) guest->connection->forget_buffer();
    look(guest, false);
  }
}

void Reception::serve_waiting() {
  bool overtakes = false;
  for (Place guest = waiting_.begin(); guest != waiting_.end();) {
    const Place current = guest++;
    if (serve_(current->connection, overtakes)) {
      waiting_.erase(current);
    } else {
      overtakes = true;
    }
  }
}

void Reception::gather() {
  polled_.clear();
  asked_.clear();
  bytes_ = 0;
  polled_.push_back({wake_.descriptor(), POLLIN, 0});
  const bool accept_now = accepting_ && now_ >= accept_again_;
  polled_.push_back({accept_now ? listening_ : -1, POLLIN, 0});
  // Of a waiting request only a reset is of interest, and that is always told.
  const std::pair<Guests*, short> lists[] = {
      {&arriving_, POLLIN}, {&waiting_, 0}, {&leaving_, POLLIN}};
  for (const auto& [list, events] : lists) {
    for (Place guest = list->begin(); guest != list->end(); ++guest) {
      polled_.push_back({guest->connection->socket(), events, 0});
      asked_.push_back({list, guest});
      bytes_ += guest->connection->buffered().size();
    }
  }
}

int Reception::poll_timeout() const {
  constexpr milliseconds kLongest{60'000};
  TimePoint first = now_ + kLongest;
  for (const Guests* list : {&arriving_, &waiting_, &leaving_}) {
    for (const Guest& guest : *list) first = std::min(first, guest.deadline);
  }
  if (accept_again_ > now_) first = std::min(first, accept_again_);
  const auto left = std::chrono::ceil<milliseconds>(first - steady_clock::now());
  return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
}

// Each guest is asked once a round, and nothing here touches another one: the places stay valid.
void Reception::answer(const Asked& asked, short events) {
  if (asked.list == &arriving_) return receive(asked.guest);
  if (asked.list == &waiting_) {
    if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) waiting_.erase(asked.guest);
    return;
  }
  const Received got = asked.guest->connection->drop();
  if (got == Received::end || got == Received::broken) leaving_.erase(asked.guest);
}

void Reception::accept_new() {
  for (std::size_t i = 0; i < kAcceptAtOnce; ++i) {
    const int socket = accept_connection(listening_);
    if (socket >= 0) {
      let_in(socket);
      continue;
    }
    const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
    if (none_left || errno == ENOMEM) {
      if (now_ >= warn_again_) {
        log_warning("no descriptor for another connection; raise the limit of open files");
        warn_again_ = now_ + kWarnPause;
      }
      evict_longest();
      accept_again_ = now_ + kAcceptPause;
    }
    return;
  }
}

void Reception::let_in(int socket) {
  auto connection = std::make_unique<Connection>(socket, options_.timeouts);
  if (count() >= options_.connections && !evict_longest()) return;  // closes it
  arriving_.push_back(
      {std::move(connection), RequestScan(options_.request), now_ + options_.timeouts.idle});
  receive(std::prev(arriving_.end()));  // most clients send at once
}

void Reception::receive(Place guest) {
  if (bytes_ > options_.bytes) return;  // once some were shed
  const std::size_t before = guest->connection->buffered().size();
  const Received got = guest->connection->receive();
  if (got == Received::nothing) return;
  if (got == Received::broken) {
    arriving_.erase(guest);
    return;
  }
  bytes_ += guest->connection->buffered().size() - before;
  look(guest, got == Received::end);
}

void Reception::look(Place guest, bool ended) {
  Connection& connection = *guest->connection;
  if (guest->began == TimePoint()) connection.skip_line_ends();
  if (connection.buffered().empty()) {
    if (ended) arriving_.erase(guest);
    return;
  }
  if (guest->began == TimePoint()) guest->began = now_;
  const Arrival arrival = guest->scan.look(connection.buffered());
  if (arrival == Arrival::oversize) {
    const Error error = {ErrorKind::invalid_argument,
                         "the request's head is larger than " +
                             std::to_string(options_.request.head_bytes) + " bytes"};
    return refuse(arriving_, guest, 431, error);
  }
  // Of a request that breaks off the parser says what is missing.
  if (arrival == Arrival::ready || ended) return hand_over(guest);
  const ConnectionTimeouts& timeouts = options_.timeouts;
  const auto whole = arrival == Arrival::head ? timeouts.head : timeouts.request;
  guest->deadline = std::min(now_ + timeouts.read, guest->began + whole);
}

void Reception::hand_over(Place guest) {
  guest->connection->begin_request(guest->began + options_.timeouts.request);
  if (serve_(guest->connection, !waiting_.empty())) {
    arriving_.erase(guest);
  } else if (waiting_.size() >= options_.waiting || bytes_ > options_.bytes) {
    refuse(arriving_, guest, 503, too_many("requests in work"));
  } else {
    guest->deadline = now_ + options_.timeouts.wait;
    waiting_.splice(waiting_.end(), arriving_, guest);
  }
}

void Reception::refuse(Guests& list, Place guest, int status, const Error& error) {
  const std::string path(path_of(guest->connection->buffered()));
  guest->connection->send_now(refusal_bytes(status, error, path));
  see_out(list, guest);
}

// Closing with unread bytes would send a reset, which can destroy the response on its way to the
// client. So the sending side is shut down first and what still comes is read for a moment.
void Reception::see_out(Guests& list, Place guest) {
  guest->connection->finish_sending();
  guest->connection->forget_buffer();
  guest->deadline = now_ + options_.timeouts.linger;
  leaving_.splice(leaving_.end(), list, guest);
}

void Reception::expire() {
  const auto each_expired = [this](Guests& list, auto act) {
    for (Place guest = list.begin(); guest != list.end();) {
      const Place current = guest++;
      if (current->deadline <= now_) act(current);
    }
  };
  each_expired(leaving_, [this](Place guest) { leaving_.erase(guest); });
  each_expired(waiting_,
               [this](Place guest) { refuse(waiting_, guest, 503, too_many("requests in work")); });
  each_expired(arriving_, [this](Place guest) {
    if (guest->began == TimePoint()) return see_out(arriving_, guest);
    refuse(arriving_, guest, 408, too_slow());
  });
}

// Makes room for one more. Whole requests keep their place.
bool Reception::evict_longest() {
  if (!leaving_.empty()) {
    leaving_.pop_front();
  } else if (!arriving_.empty()) {
    const Place guest = arriving_.begin();
    if (guest->began != TimePoint()) {
      const std::string path(path_of(guest->connection->buffered()));
      guest->connection->send_now(refusal_bytes(503, too_many("connections"), path));
    }
    arriving_.erase(guest);
  } else {
    return false;
  }
  return true;
}

// Too many bytes of requests that do not end: those that came first have had the most time.
void Reception::shed_bytes() {
  for (Place guest = arriving_.begin(); bytes_ > options_.bytes && guest != arriving_.end();) {
    const Place current = guest++;
    const std::size_t size = current->connection->buffered().size();
    if (size == 0) continue;
    bytes_ -= size;
    refuse(arriving_, current, 503, too_many("unfinished requests"));
  }
}

std::size_t Reception::count() const {
  return arriving_.size() + waiting_.size() + leaving_.size();
}

}  // namespace samovar
