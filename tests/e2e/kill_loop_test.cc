// A server that is killed at random moments under traffic, again and again, on one folder: nothing
// that it wrote ever makes a reply wrong, and the folder stays in order and within its budget.
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/stored_files.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

constexpr std::uint64_t kBudget = 8'000'000;        // less than the conversations take
constexpr std::uint64_t kCatalogGrowth = 64 << 10;  // until it is looked at again
constexpr int kClients = 3;
constexpr unsigned kConversations = 4;  // of each client
constexpr unsigned kTurnsMax = 6;       // then the conversation begins anew

// What was answered to a prompt the first time; every later answer must be the same.
class Reference {
 public:
  // The text to expect of `prompt`, which is `text` if nobody asked before.
  std::string of(const std::string& prompt, const std::string& text) {
    const std::scoped_lock hold(mutex_);
    const auto [known, first] = texts_.try_emplace(prompt, text);
    ++(first ? first_ : again_);
    return known->second;
  }
  [[nodiscard]] std::string figures() {
    const std::scoped_lock hold(mutex_);
    return std::to_string(first_) + " prompts, " + std::to_string(again_) + " asked again, " +
           std::to_string(from_disk) + " replies from disk";
  }
  std::atomic<int> from_disk = 0;

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> texts_;
  int first_ = 0;
  int again_ = 0;
};

// One client: some conversations that it takes up at random, now and then from an earlier turn on.
// What it says depends on conversation and turn only, so the same prompts come back.
class Client {
 public:
  Client(unsigned id, Reference& reference) : id_(id), chance_(id), reference_(reference) {}

  // Talks until the server is gone.
  void talk(int port) {
    while (turn(port)) {
    }
  }

 private:
  bool turn(int port) {
    const unsigned index = chance_() % kConversations;
    std::vector<Json>& turns = conversations_[index];  // prompt after prompt
    if (turns.size() >= kTurnsMax) turns.clear();
    if (turns.size() > 1 && chance_() % 4 == 0) turns.resize(chance_() % turns.size() + 1);
    Json messages = turns.empty() ? Json::array() : turns.back();
    const auto number = static_cast<unsigned>(turns.size());
    const unsigned seed = id_ * 1000 + index * 100 + number;
    messages.push_back(message("user", "Then? " + prose(120 + static_cast<int>(seed % 200), seed)));
    const Json body = request(messages, 8);
    const Reply reply = chat(port, body);
    if (reply.status == 0 || reply.json.is_discarded()) return false;  // killed
    EXPECT_EQ(reply.status, 200) << reply.json;
    if (reply.status != 200) return false;
    EXPECT_EQ(reply.text(), reference_.of(body.dump(), reply.text())) << reply.json["timings"];
    if (reply.json["timings"]["source"] == "store") ++reference_.from_disk;
    Json answer = reply.json["choices"][0]["message"];
    answer["role"] = "assistant";
    messages.push_back(answer);
    turns.push_back(messages);
    return true;
  }

  unsigned id_;
  std::mt19937 chance_;
  Reference& reference_;
  std::vector<Json> conversations_[kConversations];
};

// What `samovar cache verify` has to say; empty if all is well.
std::string verify(const std::string& folder) {
  const std::string command =
      std::string(SAMOVAR_BINARY) + "/samovar cache verify --store-dir " + folder + " 2>&1";
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return "cannot run " + command;
  std::string text;
  for (int letter = std::fgetc(output); letter != EOF; letter = std::fgetc(output)) {
    text += static_cast<char>(letter);
  }
  return ::pclose(output) == 0 ? "" : text;
}

int kills_wanted() {
  const char* said = std::getenv("SAMOVAR_KILLS");
  return said == nullptr ? 40 : std::atoi(said);
}

void expect_in_order(const StoredFiles& files) {
  EXPECT_TRUE(eventually([&] { return files.named(".tmp").empty(); })) << files.named(".tmp")[0];
  EXPECT_EQ(files.faults(), std::vector<std::string>{});
  EXPECT_EQ(files.quarantined(), std::vector<std::string>{});
  EXPECT_LE(files.bytes(), kBudget + kCatalogGrowth);
}

// Goal: no moment to be killed at is a bad one. Method: three clients whose conversations grow over
// a store so small that it evicts all the time; SIGKILL 20 to 600 ms after the server serves; a
// look at the folder after each start; equal prompts must get equal replies, whatever they were
// resumed from. One conversation in memory at a time: others beside it would change the order of
// cells, and so the rounding; and so nearly every turn comes from the disk.
// SAMOVAR_KILLS=500 makes it a long run.
TEST(KillLoop, NothingIsEverWrong) {
  const TemporaryFolder folder;
  const StoredFiles files(folder.path());
  Reference reference;
  std::vector<Client> clients;
  for (unsigned id = 0; id < kClients; ++id) clients.emplace_back(id + 1, reference);
  std::mt19937 chance(4711);
  const int kills = kills_wanted();
  int evicted = 0;
  for (int kill = 0; kill <= kills; ++kill) {
    SCOPED_TRACE("after " + std::to_string(kill) + " kills");
    ServerProcess server({"-c", "8192", "-np", "1", "--sequences", "1", "--store-dir",
                          folder.path(), "--store-size", std::to_string(kBudget), "--store-quiet",
                          "0.05", "--store-window", "1"});
    expect_in_order(files);
    if (HasFailure() || kill == kills) break;
    std::vector<std::thread> threads;
    for (Client& client : clients) {
      threads.emplace_back([&client, port = server.port()] { client.talk(port); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + chance() % 580));
    server.kill_hard();
    for (std::thread& thread : threads) thread.join();
    evicted += server.has("store: evicted") ? 1 : 0;
    const std::string bad = kill % 10 == 0 ? verify(folder.path()) : "";
    EXPECT_EQ(bad, "");
    if (HasFailure()) break;
  }
  std::printf("%d kills: %s, %d servers that evicted\n", kills, reference.figures().c_str(),
              evicted);
  EXPECT_GT(reference.from_disk, kills / 10);
  EXPECT_GT(evicted, kills / 10);
}

}  // namespace
}  // namespace samovar::testing
