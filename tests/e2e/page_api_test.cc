// Goal: what the page is told over real HTTP is what the server does: phases of a running turn, the
// tree of memory and disk, hits after a restart; files without a key, data with one. Method: the
// server with a tiny model, its events read by a thread beside the client's.
#include <atomic>
#include <set>
#include <thread>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

struct Event {
  std::string name;
  Json data;
};

// Listens to a server's events from its making until one of `last` has come.
class Events {
 public:
  Events(int port, std::string last) : client_(port), last_(std::move(last)) {
    client_.send("GET /v1/samovar/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    begun_ = client_.receive_until("event: state").find("event: state") != std::string::npos;
    reader_ = std::thread([this] { client_.receive_until("event: " + last_, 60); });
  }
  ~Events() {
    if (reader_.joinable()) reader_.join();
  }

  [[nodiscard]] bool begun() const { return begun_; }

  // All that came, the last one left out.
  std::vector<Event> take() {
    reader_.join();
    const std::string text = unchunked();
    std::vector<Event> events;
    std::size_t at = 0;
    for (std::size_t end; (end = text.find("\n\n", at)) != std::string::npos; at = end + 2) {
      const std::string event = text.substr(at, end - at);
      const std::size_t line = event.find("\ndata: ");
      if (line == std::string::npos) continue;
      events.push_back({event.substr(7, line - 7), Json::parse(event.substr(line + 7))});
    }
    return events;
  }

 private:
  std::string unchunked() {
    const std::string& all = client_.received();
    std::string text;
    std::size_t at = all.find("\r\n\r\n") + 4;
    while (at < all.size()) {
      const std::size_t line = all.find("\r\n", at);
      if (line == std::string::npos) break;
      const std::size_t size = std::strtoul(all.c_str() + at, nullptr, 16);
      if (size == 0) break;
      text += all.substr(line + 2, size);
      at = line + 2 + size + 2;
    }
    return text;
  }

  RawClient client_;
  const std::string last_;
  bool begun_ = false;
  std::thread reader_;
};

Json conversation(const std::string& question, int system_words = 300) {
  return Json::array({message("system", prose(system_words, 1)), message("user", question)});
}

// The path of nodes from the root to where a sequence ends.
std::vector<Json> path_of(const Json& sessions, const Json& sequence) {
  std::vector<Json> path;
  Json id = sequence["node"];
  while (!id.is_null()) {
    const auto node = std::find_if(sessions["nodes"].begin(), sessions["nodes"].end(),
                                   [&](const Json& each) { return each["id"] == id; });
    if (node == sessions["nodes"].end()) return {};
    path.insert(path.begin(), *node);
    id = (*node)["parent"];
  }
  return path;
}

std::uint64_t disk_bytes(const Json& sessions) {
  std::uint64_t bytes = 0;
  for (const Json& node : sessions["nodes"]) {
    if (node["disk"].is_null()) continue;
    bytes += node["disk"]["bytes"].get<std::uint64_t>();
    bytes += node["disk"]["snapshot_bytes"].get<std::uint64_t>();
  }
  return bytes;
}

ServerProcess::Words options(const TemporaryFolder& folder) {
  return {"-c",  "8192",           "--store-dir", folder.path(),  "--store-quiet",
          "0.2", "--store-window", "1",           "--store-size", "200M"};
}

TEST(PageApi, ATurnIsToldPhaseByPhaseAndAtItsEnd) {
  const ServerProcess server({"-c", "8192", "-ub", "64"});
  Events events(server.port(), "ended");
  ASSERT_TRUE(events.begun());
  // The reply takes longer than the time between two looks, on fast machines, too.
  const Json body = {{"messages", conversation("Tell me. " + prose(2000, 3), 1000)},
                     {"max_tokens", 1500},
                     {"ignore_eos", true},
                     {"prompt_cache_key", "my <session>"}};
  const Reply reply = chat(server.port(), body);
  ASSERT_EQ(reply.status, 200);
  std::vector<std::string> phases;
  double age = 0;
  int done = 0;
  for (const Event& event : events.take()) {
    if (event.name != "turn") continue;
    const Json& turn = event.data;
    EXPECT_EQ(turn["id"], reply.json["id"]);
    EXPECT_EQ(turn["session"], "my <session>");
    EXPECT_GE(turn["age_ms"].get<double>(), age);
    EXPECT_GE(turn["done_tokens"].get<int>(), done);
    age = turn["age_ms"];
    done = turn["done_tokens"];
    const std::string phase = turn["phase"];
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  }
  // A turn may leave the queue between two looks.
  if (!phases.empty() && phases.front() == "queue") phases.erase(phases.begin());
  EXPECT_EQ(phases, (std::vector<std::string>{"prefill", "decode"}));
  const Json record =
      get(server.port(), "/v1/samovar/turns/" + reply.json["id"].get<std::string>()).json;
  EXPECT_EQ(record["status"], "complete");
  const Json state = get(server.port(), "/v1/samovar/state").json;
  EXPECT_TRUE(state["turns"].empty());
  EXPECT_TRUE(state["store"].is_null());
  EXPECT_GT(state["memory"]["rss_bytes"].get<std::int64_t>(), 1 << 20);
  EXPECT_EQ(state["server"]["options"]["--ubatch-size"], "64");
}

TEST(PageApi, SessionsThatForkFromOnePromptShareANode) {
  const ServerProcess server({"-c", "8192", "--no-rewarm"});
  for (const char* name : {"first", "second"}) {
    const Json body = {{"messages", conversation(prose(60, name[0]))},
                       {"max_tokens", 4},
                       {"prompt_cache_key", name}};
    ASSERT_EQ(chat(server.port(), body).status, 200);
  }
  const Json shown = get(server.port(), "/v1/samovar/sessions").json;
  ASSERT_EQ(shown["sequences"].size(), 2U) << shown;
  const auto one = path_of(shown, shown["sequences"][0]);
  const auto two = path_of(shown, shown["sequences"][1]);
  ASSERT_FALSE(one.empty());
  ASSERT_FALSE(two.empty());
  EXPECT_EQ(one.front(), two.front());
  EXPECT_NE(one.back()["id"], two.back()["id"]);
  EXPECT_EQ(one.front()["sessions"].size(), 2U) << one.front();
  EXPECT_GT(one.front()["memory"]["cells"].get<int>(), 200);
  const Json state = get(server.port(), "/v1/samovar/state").json;
  int cells = 0;
  std::int64_t anchors = 0;
  for (const Json& node : shown["nodes"]) {
    cells += node["memory"]["cells"].get<int>();
    anchors += node["memory"]["anchor_bytes"].get<std::int64_t>();
  }
  EXPECT_EQ(state["cells"]["used"], cells);
  EXPECT_EQ(state["memory"]["anchor_bytes"], anchors);
  std::set<std::string> names;
  for (const Json& session : shown["sessions"]) names.insert(session["session"]);
  EXPECT_EQ(names, (std::set<std::string>{"first", "second"}));
}

TEST(PageApi, TheDiskIsInTheTreeAndRestoresAreHits) {
  const TemporaryFolder folder;
  Json messages = conversation("Where does it go? " + prose(100, 7));
  const Json extra = {{"max_tokens", 6}, {"prompt_cache_key", "kept"}};
  const auto ask_once = [&](int port) {
    Json body = extra;
    body["messages"] = messages;
    const Reply reply = chat(port, body);
    EXPECT_EQ(reply.status, 200);
    messages.push_back(reply.json["choices"][0]["message"]);
    messages.push_back(message("user", "And then?"));
    return reply;
  };
  {
    ServerProcess server(options(folder));
    ask_once(server.port());
    // Both in memory and, before long, on disk.
    EXPECT_TRUE(eventually([&] {
      const Json shown = get(server.port(), "/v1/samovar/sessions").json;
      return shown["sessions"][0]["stored_tokens"].get<int>() > 300;
    }));
    const Json shown = get(server.port(), "/v1/samovar/sessions").json;
    bool both = false;
    for (const Json& node : shown["nodes"]) {
      both = both || (!node["memory"].is_null() && !node["disk"].is_null());
    }
    EXPECT_TRUE(both) << shown;
    EXPECT_FALSE(shown["disk_evicts_next"].empty());
    EXPECT_LE(disk_bytes(shown),
              get(server.port(), "/v1/samovar/state").json["store"]["bytes"].get<std::uint64_t>());
    ASSERT_EQ(server.end(), 0);
  }
  ServerProcess server(options(folder));
  const auto hits = [&] {
    int most = 0;
    const Json shown = get(server.port(), "/v1/samovar/sessions").json;
    for (const Json& node : shown["nodes"]) {
      if (!node["disk"].is_null()) most = std::max(most, node["disk"]["hits"].get<int>());
    }
    return most;
  };
  EXPECT_TRUE(eventually(
      [&] { return !get(server.port(), "/v1/samovar/sessions").json["nodes"].empty(); }));
  EXPECT_EQ(hits(), 0);
  EXPECT_EQ(ask_once(server.port()).json["timings"]["source"], "store");
  EXPECT_TRUE(eventually([&] { return hits() == 1; }, 20))
      << get(server.port(), "/v1/samovar/sessions").json;
  EXPECT_EQ(get(server.port(), "/v1/samovar/state").json["store"]["restores"], 1);
}

TEST(PageApi, DataWantsTheKeyAndThePageDoesNot) {
  ServerProcess server({"--api-key", "secret"});
  const Reply page = get(server.port(), "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_NE(page.head.find("text/html"), std::string::npos);
  const std::size_t tag = page.head.find("ETag: ") + 6;
  const std::string known = page.head.substr(tag, page.head.find("\r\n", tag) - tag);
  EXPECT_EQ(get(server.port(), "/", "Host: localhost\r\nIf-None-Match: " + known + "\r\n").status,
            304);
  EXPECT_EQ(get(server.port(), "/", "Host: evil.example\r\n").status, 403);
  for (const char* path :
       {"/v1/samovar/state", "/v1/samovar/sessions", "/v1/samovar/events", "/v1/samovar/turns",
        "/%2e%2e/v1/samovar/state", "/assets/../v1/models"}) {
    EXPECT_EQ(get(server.port(), path).status, 401) << path;
  }
  const std::string key = "Host: localhost\r\nAuthorization: Bearer secret\r\n";
  const Reply state = get(server.port(), "/v1/samovar/state", key);
  EXPECT_EQ(state.status, 200);
  EXPECT_EQ(state.json.dump().find("secret"), std::string::npos);
  EXPECT_EQ(get(server.port(), "/v1/samovar/sessions", key).status, 200);
}

TEST(PageApi, AListenerDoesNotKeepTheServerFromEnding) {
  ServerProcess server({"-c", "4096"});
  Events events(server.port(), "none");
  ASSERT_TRUE(events.begun());
  EXPECT_EQ(server.end(), 0);
  const auto told = events.take();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().name, "state");
  EXPECT_EQ(told.back().data["server"]["ready"], false);
}

}  // namespace
}  // namespace samovar::testing
