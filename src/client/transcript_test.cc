// Goal: what a transcript says after a crash at any byte, on a full disk or after damage is the
// conversation up to there. Method: real files in a temporary folder, cut and damaged.
#include "client/transcript.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "client/chat_folder.h"
#include "client/chat_session.h"
#include "client/request_body.h"
#include "fs/posix_fs.h"
#include "tests/support/temporary_folder.h"

namespace samovar::client {
namespace {

class TranscriptTest : public ::testing::Test {
 protected:
  ChatFolder folder() { return {root_.at("samovar/chats"), fs_, clock_}; }
  ChatSession::Say say() {
    return [this](const std::string& line) { said_.push_back(line); };
  }

  // A conversation with everything in it; returns what the next request would say.
  std::string talk(const ChatFolder& chats, const std::string& name) {
    ChatSession session(chats, name, {"m", "http://x", true}, say());
    session.set_system("Be brief.");
    session.user("Hello \"there\"\n\xFF\ttab");
    session.piece("He", "Hm");
    session.piece("llo é", "");
    session.end({.end = ReplyEnd::complete, .finish = "stop", .turn = "t1"}, "Hello é", "Hm");
    session.user("Again");
    session.piece("Wrong", "");
    session.end({.end = ReplyEnd::complete, .turn = "t2"}, "Wrong", "");
    session.back(3);  // retry
    session.piece("Right, but", "");
    session.end({.end = ReplyEnd::cut, .turn = "t3"}, "Right, but", "");
    session.user("lost");
    session.end({.end = ReplyEnd::failed}, "", "");
    session.user("And?");  // takes its place
    session.end({.end = ReplyEnd::cut, .turn = "t4"}, "", "");
    session.user("Last");
    session.piece("End", "");
    session.end({.end = ReplyEnd::complete, .turn = "t5"}, "End", "");
    return request_body(session.history(), {}, {});
  }

  testing::TemporaryFolder root_;
  PosixFs fs_;
  FakeClock clock_;
  std::vector<std::string> said_;
};

TEST_F(TranscriptTest, ResumingGivesTheSameBytes) {
  const ChatFolder chats = folder();
  const std::string body = talk(chats, "one");
  const auto again = ChatSession::resume(chats, "one", say());
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(request_body((*again)->history(), {}, {}), body);
  EXPECT_EQ((*again)->setup(), (ChatSetup{"m", "http://x", true}));
  EXPECT_EQ((*again)->last_turn(), "t5");
  EXPECT_EQ((*again)->turns(), 5U);
  EXPECT_EQ((*again)->loaded().damaged, 0U);
  EXPECT_TRUE((*again)->history().messages[3].cut);
  EXPECT_EQ(body.find("lost"), std::string::npos);
  EXPECT_EQ(body.find("Wrong"), std::string::npos);
  const auto text = read_whole(chats.file_of("one"));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Wrong"), std::string::npos) << "the replaced reply is still there to read";
  EXPECT_TRUE(said_.empty());
}

// Every prefix of the file loads, and gives no message that is not in the whole.
TEST_F(TranscriptTest, ACrashAtAnyByteLosesAtMostTheLineBeingWritten) {
  const ChatFolder chats = folder();
  (void)talk(chats, "one");
  const std::string text = *read_whole(chats.file_of("one"));
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    const LoadedChat chat = load_transcript(part);
    const bool whole_line = size == 0 || part.ends_with('\n') || text[size] == '\n';
    EXPECT_EQ(chat.damaged, whole_line ? 0U : 1U) << size;
    const std::size_t last_line =
        part.rfind('\n') == std::string_view::npos ? 0 : part.rfind('\n') + 1;
    if (!whole_line) {
      EXPECT_EQ(chat.history.messages, load_transcript(part.substr(0, last_line)).history.messages);
    }
  }
}

TEST_F(TranscriptTest, ATornLineIsClosedOffBeforeTheNextIsWritten) {
  const ChatFolder chats = folder();
  (void)talk(chats, "one");
  const std::string path = chats.file_of("one");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 7);
  {
    const auto session = ChatSession::resume(chats, "one", say());
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->loaded().damaged, 1U);
    EXPECT_TRUE((*session)->loaded().open_reply) << "the end of the last reply was torn";
    EXPECT_EQ((*session)->history().messages.back().content, "End");
    (*session)->user("Next");
  }
  const auto again = chats.load("one");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->damaged, 1U);
  EXPECT_EQ(again->history.messages.back().content, "Next");
  EXPECT_EQ(again->history.messages[again->history.messages.size() - 2].content, "End");
}

TEST_F(TranscriptTest, AReplyThatWasComingIsKeptAsCut) {
  const ChatFolder chats = folder();
  {
    ChatSession session(chats, "one", {}, say());
    session.user("Hello");
    session.piece("Half a", "thought");
  }
  const auto chat = chats.load("one");
  ASSERT_TRUE(chat);
  EXPECT_TRUE(chat->open_reply);
  ASSERT_EQ(chat->history.messages.size(), 2U);
  EXPECT_EQ(chat->history.messages[1],
            (Message{.content = "Half a", .reasoning = "thought", .cut = true}));
}

TEST_F(TranscriptTest, DamageInTheMiddleCostsItsLinesOnly) {
  const std::string text =
      "{\"kind\":\"user\",\"content\":\"a\"}\n\x01\x02garbage\n[]\n{\"kind\":7}\n"
      "{\"kind\":\"piece\",\"content\":\"b\"}\n{\"kind\":\"later\"}\n"
      "{\"kind\":\"back\",\"messages\":-3}\n";
  const LoadedChat chat = load_transcript(text);
  EXPECT_EQ(chat.damaged, 3U);
  ASSERT_EQ(chat.history.messages.size(), 2U);
  EXPECT_EQ(chat.history.messages[1].content, "b");
}

TEST_F(TranscriptTest, TheLastModelItWasWithDecidesWhoseItIs) {
  const auto of_another = [](const std::string& lines) {
    return load_transcript(lines).was_with_other_than("Pocket");
  };
  const auto with = [](const std::string& model) {
    return R"({"kind":"chat","format":1,"model":")" + model + R"(","url":"http://x"})" + "\n";
  };
  EXPECT_FALSE(of_another(""));
  EXPECT_FALSE(of_another(with("Pocket")));
  EXPECT_TRUE(of_another(with("Pocket-2")));
  EXPECT_TRUE(of_another(with("Pocket") + with("Qwen3.5-35B")));
  EXPECT_FALSE(of_another(with("Qwen3.5-35B") + with("Pocket")));
  EXPECT_TRUE(of_another(with("")));
  EXPECT_FALSE(of_another(R"({"kind":"chat","format":1,"model":"","url":""})"
                          "\n"))
      << "ended before it was with anyone";
  EXPECT_FALSE(of_another(R"({"kind":"user","content":"{\"model\":\"Qwen\"}","model":"Qwen"})"
                          "\n"))
      << "what is said names no model";
}

TEST_F(TranscriptTest, FilesAreTheOwnersAlone) {
  const ChatFolder chats = folder();
  (void)talk(chats, "one");
  struct stat info = {};
  ASSERT_EQ(::stat(chats.file_of("one").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(root_.at("samovar/chats").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(TranscriptTest, OneWindowAtATime) {
  const ChatFolder chats = folder();
  (void)talk(chats, "one");
  const auto first = ChatSession::resume(chats, "one", say());
  ASSERT_TRUE(first);
  const auto second = ChatSession::resume(chats, "one", say());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another window"), std::string::npos);
}

// Limits the size of files, so that a write ends in the middle as on a full disk.
class FileLimit {
 public:
  explicit FileLimit(std::uintmax_t bytes) {
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_handler_);
  }

 private:
  rlimit before_ = {};
  void (*before_handler_)(int) = nullptr;
};

// What could not be written comes first once there is room, and nothing is there twice.
TEST_F(TranscriptTest, AFullDiskIsSaidAndLeavesNoHole) {
  const ChatFolder chats = folder();
  ChatSession session(chats, "one", {}, say());
  session.user("Hello");
  {
    const FileLimit limit(std::filesystem::file_size(chats.file_of("one")) + 10);
    session.piece("half a reply", "");
    session.piece(", the rest", "");
  }
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("not being saved: cannot write"), std::string::npos) << said_[0];
  session.end({.end = ReplyEnd::complete}, "half a reply, the rest", "");
  EXPECT_EQ(said_.size(), 2U);
  const auto chat = chats.load("one");
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->history.messages, session.history().messages);
  EXPECT_EQ(chat->damaged, 1U) << "the torn line";
}

TEST_F(TranscriptTest, AFullDeviceIsAnErrorWithTheSystemsWords) {
  auto full = AppendFile::open("/dev/full");
  ASSERT_TRUE(full);
  const Status status = (*full)->append("{}");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("No space left"), std::string::npos);
}

TEST_F(TranscriptTest, AFolderThatCannotBeMadeStopsNothing) {
  ASSERT_TRUE(write_new(root_.at("samovar"), "a file where the folder should be"));
  const ChatFolder chats = folder();
  ChatSession session(chats, "one", {}, say());
  session.user("Hello");
  session.end({.end = ReplyEnd::complete}, "Hi", "");
  ASSERT_EQ(said_.size(), 1U) << "said once";
  EXPECT_NE(said_[0].find("not being saved"), std::string::npos);
  std::filesystem::remove(root_.at("samovar"));
  session.user("Again");
  const auto chat = chats.load("one");
  ASSERT_TRUE(chat);
  ASSERT_EQ(chat->history.messages.size(), 3U) << "what was said before is there too";
  EXPECT_EQ(chat->history.messages[1].content, "Hi");
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(TranscriptTest, ListsNewestFirstWithTitles) {
  const ChatFolder chats = folder();
  EXPECT_TRUE(chats.list(10)->empty());
  for (const std::string name : {"old", "young"}) {
    ChatSession session(chats, name, {}, say());
    session.user("I am\n" + name);
    session.end({.end = ReplyEnd::complete}, "Hi", "");
  }
  const auto past = std::filesystem::file_time_type::clock::now() - std::chrono::hours(3);
  std::filesystem::last_write_time(chats.file_of("old"), past);
  const auto list = chats.list(10);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[0].name, "young");
  EXPECT_EQ((*list)[1].title, "I am\nold");
  EXPECT_EQ((*list)[1].turns, 1U);
  EXPECT_EQ(chats.list(1)->size(), 1U);
}

TEST_F(TranscriptTest, NamesStayInTheFolder) {
  for (const char* bad : {"", "../x", "a/b", ".hidden", "-x", "a b", "ä"}) {
    EXPECT_FALSE(check_name(bad)) << bad;
  }
  EXPECT_FALSE(check_name(std::string(65, 'a')));
  EXPECT_TRUE(check_name("calm-river-7f3a"));
  std::mt19937_64 random(1);
  EXPECT_TRUE(check_name(folder().fresh_name(random)));
  EXPECT_NE(folder().fresh_name(random), folder().fresh_name(random));
  EXPECT_EQ(folder().load("none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace samovar::client
