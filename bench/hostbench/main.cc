// samovar-hostbench: what a follow-up costs before the engine sees it, by the size of the
// conversation: parsing the body, rendering and tokenising it, planning its cuts, hashing it for
// the store's index. `samovar-hostbench MODEL [ROUNDS]`
//
// The conversation is an agent's: a question, three calls with reasoning and results, a reply, and
// so on, with 10,000 tokens of tools. Every round sends it with a call and its result, or a reply
// and a question, more. Beside it the cost of the same without memory: a body parsed as a whole,
// and a conversation whose system message is another one, so that all of it is rendered.
#include <fmt/core.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "api/chat_request.h"
#include "api/message_memo.h"
#include "base/clock.h"
#include "base/hash.h"
#include "chat/chat_format.h"
#include "explain/turn_shape.h"
#include "prefix/splits.h"

namespace samovar::bench {
namespace {

using Json = nlohmann::ordered_json;

class Words {
 public:
  // Some `tokens` tokens of text and code; a word has 2.3.
  std::string text(int tokens) {
    static constexpr std::array kWords = {"the ",  "file ",  "returns ", "value",
                                          "(x)\n", " if ",   "error",    "\t\"a\"",
                                          " = ",   "table ", ", and ",   "0x1f "};
    std::string result;
    for (int i = 0; i < tokens * 10 / 23; ++i) result += kWords[random_() % kWords.size()];
    return result;
  }

 private:
  std::mt19937 random_{7};
};

class Session {
 public:
  Session(int messages, int tokens) : per_message_(tokens / messages) {
    body_ = {{"model", "any"}, {"stream", true}, {"messages", Json::array()}};
    add({{"role", "system"}, {"content", words_.text(400)}});
    for (int i = 0; i < 25; ++i) add_tool(i);
    ask();
    while (static_cast<int>(body_["messages"].size()) < messages) grow();
  }

  // A call and its result, or a reply and a question.
  void grow() {
    if (calls_ == 3) {
      calls_ = 0;
      add({{"role", "assistant"},
           {"content", words_.text(per_message_)},
           {"reasoning_content", words_.text(20)}});
      return ask();
    }
    const std::string id = fmt::format("call{:05}", ++number_);
    const std::string arguments = Json{{"path", words_.text(8)}, {"line", number_}}.dump();
    add({{"role", "assistant"},
         {"content", ""},
         {"reasoning_content", words_.text(20)},
         {"tool_calls",
          {{{"id", id},
            {"type", "function"},
            {"function", {{"name", "tool3"}, {"arguments", arguments}}}}}}});
    add({{"role", "tool"}, {"tool_call_id", id}, {"content", words_.text(2 * per_message_)}});
    ++calls_;
  }

  [[nodiscard]] std::size_t messages() const { return body_["messages"].size(); }

  [[nodiscard]] std::string body() const { return body_.dump(); }

  [[nodiscard]] std::string body_with_other_system(int number) const {
    Json other = body_;
    other["messages"][0]["content"] = fmt::format("You are number {}.", number);
    return other.dump();
  }

 private:
  void add(Json message) { body_["messages"].push_back(std::move(message)); }
  void ask() { add({{"role", "user"}, {"content", words_.text(per_message_ / 2)}}); }

  void add_tool(int number) {
    Json properties;
    for (const char* name : {"path", "line", "mode"}) {
      properties[name] = {{"type", "string"}, {"description", words_.text(60)}};
    }
    body_["tools"].push_back(
        {{"type", "function"},
         {"function",
          {{"name", fmt::format("tool{}", number)},
           {"description", words_.text(150)},
           {"parameters", {{"type", "object"}, {"properties", properties}}}}}});
  }

  Words words_;
  int per_message_;
  int calls_ = 0;
  int number_ = 0;
  Json body_;
};

// CPU time of this thread: what other processes do does not count.
Micros cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec / 1000;
}

class Timings {
 public:
  template <class Work>
  auto measure(const char* what, const Work& work) {
    const Micros start = cpu_now();
    auto result = work();
    times_[what].push_back(to_ms(cpu_now() - start));
    return result;
  }

  double median(const char* what) {
    auto& times = times_[what];
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
  }

 private:
  std::map<std::string, std::vector<double>> times_;
};

Bytes bytes_of(TokenSpan tokens) {
  return {reinterpret_cast<const std::uint8_t*>(tokens.data()), tokens.size_bytes()};
}

void follow_ups(const ChatFormat& format, int messages, int tokens, int rounds) {
  constexpr Position kUbatch = 512;
  constexpr Position kSpacing = 96;
  Session session(messages, tokens);
  MessageMemo memo;
  Timings timings;
  Position size = 0;
  for (int round = -1; round < rounds; ++round) {
    session.grow();
    const std::string body = session.body();
    Timings cold;
    Timings& now = round < 0 ? cold : timings;
    const auto parsed = now.measure("parse", [&] { return parse_chat_request(body, {}, &memo); });
    const auto chat = now.measure("render", [&] { return format.render(parsed->chat); });
    size = chat->prompt.size();
    now.measure("cuts", [&] { return canonical_cuts(chat->prompt, kUbatch, kSpacing).size(); });
    now.measure("hash", [&] { return sha256(bytes_of(chat->prompt.tokens)); });
    now.measure("shape", [&] { return make_shape(parsed->chat, chat->prompt, {}); });
    const std::string other = session.body_with_other_system(round);
    const auto all = now.measure("parse all", [&] { return parse_chat_request(other, {}); });
    now.measure("render all", [&] { return format.render(all->chat).has_value(); });
  }
  fmt::print("{:>8} {:>8} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>10.2f} {:>10.2f}\n", size,
             session.messages(), timings.median("parse"), timings.median("render"),
             timings.median("cuts"), timings.median("hash"), timings.median("shape"),
             timings.median("parse all"), timings.median("render all"));
}

// The first renderings by new messages alone are checked against whole ones (the 1st, 2nd, 4th, ...
// 32nd); what is measured comes after them.
void get_past_the_checks(const ChatFormat& format) {
  Session session(40, 4'000);
  for (int round = 0; round < 36; ++round) {
    session.grow();
    // Only what it leaves in the format matters.
    (void)format.render(parse_chat_request(session.body(), {})->chat);
  }
}

int run(const char* path, int rounds) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model* model = llama_model_load_from_file(path, params);
  if (model == nullptr) return 1;
  const Micros start = cpu_now();
  const auto format = ChatFormat::create(model, {});
  if (!format) {
    fmt::print(stderr, "{}\n", format.error().describe());
    return 1;
  }
  fmt::print("template prepared in {:.0f} ms; medians of {} rounds, ms of CPU time\n\n",
             to_ms(cpu_now() - start), rounds);
  fmt::print("{:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>10} {:>10}\n", "tokens", "messages",
             "parse", "render", "cuts", "hash", "shape", "parse all", "render all");
  get_past_the_checks(**format);
  follow_ups(**format, 40, 10'000, rounds);
  follow_ups(**format, 120, 30'000, rounds);
  follow_ups(**format, 400, 100'000, rounds);
  return 0;
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  int rounds = 9;
  if (argc > 2) std::from_chars(argv[2], argv[2] + std::char_traits<char>::length(argv[2]), rounds);
  if (argc < 2 || rounds < 1) {
    fmt::print(stderr, "usage: samovar-hostbench MODEL [ROUNDS]\n");
    return 1;
  }
  return samovar::bench::run(argv[1], rounds);
}
