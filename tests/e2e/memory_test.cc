// Goal: what was told is remembered over everything a server does with a conversation, and nobody
// is answered with what another one told. Method: Pocket (models/README.md), which has learned to
// remember, as the server without a model serves it. Equality of bytes is tested elsewhere; here
// the answers have a meaning, so that a wrong restore shows as a wrong name.
#include <array>
#include <fstream>
#include <thread>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/stored_files.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

constexpr int kSplitCost = 128;  // tokens that canonical splits may add to what is new

// What one user tells, and how it is asked for. The answers are the model's own sentences.
struct Person {
  const char* name;
  const char* dog;
  const char* number;
};
constexpr std::array<Person, 6> kPeople = {{{"Nora", "Bruno", "4711"},
                                            {"Peter", "Rex", "1283"},
                                            {"Laura", "Bella", "9052"},
                                            {"Simon", "Max", "3367"},
                                            {"Emma", "Luna", "7840"},
                                            {"David", "Rocky", "2519"}}};

const Json& chatter() {
  static const Json all = [] {
    std::ifstream in(SAMOVAR_SOURCE "/tools/pocket/probes/chatter.json");
    return Json::parse(in, nullptr, false);
  }();
  return all;
}

// One user's conversation.
class Talk {
 public:
  explicit Talk(const Person& person) : person_(&person) {}

  void tell(int port) {
    say(port, std::string("Hello! My name is ") + person_->name + ".");
    say(port, std::string("We have a dog, his name is ") + person_->dog + ".");
    say(port, std::string("My locker number is ") + person_->number + ".");
  }

  // Other things, with the answers that were given to them once: about 30 tokens each.
  void chat_about_others(std::size_t exchanges, std::size_t begin) {
    for (std::size_t i = 0; i < exchanges; ++i) {
      const Json& exchange = chatter()[(begin + i) % chatter().size()];
      messages_.push_back(message("user", exchange[0]));
      messages_.push_back(message("assistant", exchange[1]));
    }
  }

  Reply say(int port, const std::string& text) {
    messages_.push_back(message("user", text));
    Json body = request(messages_, 100);
    body["chat_template_kwargs"] = {{"enable_thinking", false}};
    Reply reply = chat(port, body);
    EXPECT_EQ(reply.status, 200) << reply.json;
    if (reply.status == 200) messages_.push_back(message("assistant", content(reply)));
    return reply;
  }

  static std::string content(const Reply& reply) {
    return reply.json["choices"][0]["message"].value("content", "");
  }

  // All three, right. The first reply.
  Reply expect_remembered(int port) {
    Reply first =
        expect_answer(port, "What is my name?", std::string("Your name is ") + person_->name + ".");
    expect_answer(port, "What is our dog called?",
                  std::string("Your dog's name is ") + person_->dog + ".");
    expect_answer(port, "Which number does my locker have?",
                  std::string("Your locker number is ") + person_->number + ".");
    return first;
  }
  Reply expect_answer(int port, const std::string& question, const std::string& answer) {
    Reply reply = say(port, question);
    EXPECT_EQ(content(reply), answer) << messages_.size() << " messages";
    return reply;
  }

 private:
  const Person* person_;
  Json messages_ = Json::array();
};

// Pocket, as it is served where no model is named.
const ServerProcess::Source kPocket = {};

ServerProcess::Words stored_in(const TemporaryFolder& folder) {
  return {"--store-dir", folder.path(), "--store-quiet", "0.2", "--store-size", "200M"};
}

void expect_from_store(const Reply& reply, int computed_most) {
  EXPECT_EQ(reply.json["timings"]["source"], "store") << reply.json["timings"];
  EXPECT_LE(reply.timing("computed_tokens"), computed_most);
}

void expect_reused(const Reply& reply) {
  EXPECT_LE(reply.timing("computed_tokens"), kSplitCost) << reply.json["timings"];
  EXPECT_GT(reply.timing("reused_tokens"), 200);
}

TEST(Memory, SurvivesARestart) {
  const TemporaryFolder folder;
  Talk talk(kPeople[0]);
  {
    ServerProcess server(kPocket, stored_in(folder));
    talk.tell(server.port());
    talk.chat_about_others(40, 0);
    talk.say(server.port(), "Thank you!");
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(kPocket, stored_in(folder));
  expect_from_store(
      talk.expect_answer(server.port(), "What is our dog called?", "Your dog's name is Bruno."),
      kSplitCost);
  talk.expect_remembered(server.port());
}

TEST(Memory, SurvivesAKill) {
  const TemporaryFolder folder;
  Talk talk(kPeople[1]);
  {
    ServerProcess server(kPocket, stored_in(folder));
    talk.tell(server.port());
    talk.chat_about_others(20, 50);
    const Reply thanks = talk.say(server.port(), "Thank you!");
    const int prompt = thanks.timing("prompt_tokens");
    const StoredFiles files(folder.path());
    ASSERT_TRUE(eventually([&] { return files.has_checkpoint(prompt - 40, prompt + 40, true); }));
    server.kill_hard();
  }
  const ServerProcess server(kPocket, stored_in(folder));
  expect_from_store(
      talk.expect_answer(server.port(), "What is our dog called?", "Your dog's name is Rex."),
      kSplitCost);
  talk.expect_remembered(server.port());
}

// Six conversations in memory for about two: each leaves, and comes back from the disk.
TEST(Memory, SurvivesEvictionAndReturn) {
  const TemporaryFolder folder;
  ServerProcess::Words options = stored_in(folder);
  options.insert(options.end(), {"-c", "2048", "--sequences", "2", "-np", "2"});
  const ServerProcess server(kPocket, options);
  std::vector<Talk> talks(kPeople.begin(), kPeople.end());
  for (std::size_t i = 0; i < talks.size(); ++i) {
    talks[i].tell(server.port());
    talks[i].chat_about_others(20, 30 * i);
    talks[i].say(server.port(), "Thank you!");
  }
  int restored = 0;
  for (std::size_t i = 0; i < talks.size(); ++i) {
    SCOPED_TRACE(i);
    const Reply reply =
        talks[i].expect_answer(server.port(), "What is our dog called?",
                               std::string("Your dog's name is ") + kPeople[i].dog + ".");
    if (reply.json["timings"]["source"] == "store") ++restored;
    talks[i].expect_remembered(server.port());
  }
  EXPECT_GE(restored, 3);
}

// Two continuations of one conversation, told different names at the same place, in turn.
TEST(Memory, OfABranchIsItsOwn) {
  const TemporaryFolder folder;
  ServerProcess server(kPocket, stored_in(folder));
  const Person nobody = {"Nora", "", ""};
  Talk trunk(nobody);
  trunk.say(server.port(), "Hello! My name is Nora.");
  trunk.chat_about_others(10, 0);
  trunk.say(server.port(), "Thank you!");
  Talk one = trunk;
  Talk other = trunk;
  one.say(server.port(), "We have a dog, his name is Bruno.");
  other.say(server.port(), "We have a dog, his name is Rocky.");
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    expect_reused(
        one.expect_answer(server.port(), "What is our dog called?", "Your dog's name is Bruno."));
    expect_reused(
        other.expect_answer(server.port(), "What is our dog called?", "Your dog's name is Rocky."));
  }
  Talk back = trunk;
  back.expect_answer(server.port(), "What is our dog called?",
                     "Your dog's name is something you have not told me.");
  back.expect_answer(server.port(), "What is my name?", "Your name is Nora.");
}

TEST(Memory, ACorrectionHoldsAfterARestart) {
  const TemporaryFolder folder;
  Talk talk(kPeople[0]);
  {
    ServerProcess server(kPocket, stored_in(folder));
    talk.tell(server.port());
    talk.chat_about_others(10, 80);
    talk.say(server.port(), "Sorry, my locker number is 8205.");
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(kPocket, stored_in(folder));
  expect_from_store(talk.expect_answer(server.port(), "Which number does my locker have?",
                                       "Your locker number is 8205."),
                    kSplitCost);
}

// All at once, then a restart, then all at once again.
TEST(Memory, NobodyIsAnsweredWithWhatAnotherOneTold) {
  const TemporaryFolder folder;
  std::vector<Talk> talks(kPeople.begin(), kPeople.end());
  const auto all = [&](const auto& act) {
    std::vector<std::jthread> users;
    for (std::size_t i = 0; i < talks.size(); ++i) {
      users.emplace_back([&, i] { act(talks[i], i); });
    }
  };
  {
    ServerProcess server(kPocket, stored_in(folder));
    all([&](Talk& talk, std::size_t i) {
      talk.tell(server.port());
      talk.chat_about_others(10, 10 * i);
      talk.expect_remembered(server.port());
    });
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(kPocket, stored_in(folder));
  all([&](Talk& talk, std::size_t) {
    expect_from_store(talk.expect_remembered(server.port()), kSplitCost);
  });
}

}  // namespace
}  // namespace samovar::testing
