#include "tests/e2e/agent_shapes.h"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace samovar::testing {
namespace {

// Token ids of the tiny models' vocabulary (tools/mkmodel/vocabulary.cc).
constexpr const char* kEndOfThought = "32767";
constexpr const char* kCall = "32756";
constexpr const char* kEndOfReply = "32744";
constexpr std::array kWords = {"279",  "14796", "9798", "1034", "1273", "1349", "2038",
                               "1555", "1787",  "1401", "1431", "1221", "323",  "773",
                               "1779", "1465",  "5046", "1936", "13"};

constexpr const char* kNames[] = {"Read",
                                  "Search",
                                  "Write",
                                  "Edit",
                                  "MultiEdit",
                                  "Bash",
                                  "BashOutput",
                                  "KillShell",
                                  "Glob",
                                  "Grep",
                                  "LS",
                                  "TodoWrite",
                                  "Task",
                                  "WebFetch",
                                  "WebSearch",
                                  "ExitPlan",
                                  "NotebookEdit",
                                  "mcp__issues__list",
                                  "mcp__issues__get",
                                  "mcp__browser__open"};

Json typed(const char* type, unsigned seed, int words) {
  return {{"type", type}, {"description", prose(words, seed)}};
}

// What a model that knows nothing can fill in.
Json closed_parameters(unsigned seed, int words) {
  const Json lines = {
      {"type", "object"},
      {"properties",
       {{"begin", typed("integer", seed + 1, words)}, {"end", typed("integer", seed + 2, words)}}},
      {"required", {"begin", "end"}},
      {"additionalProperties", false}};
  return {{"type", "object"},
          {"properties",
           {{"lines", lines},
            {"file", typed("integer", seed + 3, words)},
            {"whole", typed("boolean", seed + 4, words)}}},
          {"required", {"file", "lines", "whole"}},
          {"additionalProperties", false}};
}

// Whole numbers as "5.0", objects by their keys backwards.
void write_anew(const Json& value, std::string& out) {
  constexpr std::int64_t kExact = std::int64_t{1} << 50;  // of a double
  if (value.is_object()) {
    out += "{ ";
    const Json::object_t& members = value.get_ref<const Json::object_t&>();
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      if (member != members.rbegin()) out += " , ";
      out += Json(member->first).dump() + " : ";
      write_anew(member->second, out);
    }
    out += " }";
  } else if (value.is_number_integer() && std::abs(value.get<std::int64_t>()) < kExact) {
    out += value.dump() + ".0";
  } else {
    out += value.dump();
  }
}

}  // namespace

Json agent_tools(int count, int words) {
  Json tools = Json::array();
  for (int i = 0; i < count; ++i) {
    const auto seed = static_cast<unsigned>(100 * i);
    tools.push_back({{"type", "function"},
                     {"function",
                      {{"name", kNames[i]},
                       {"description", prose(words, seed)},
                       {"parameters", closed_parameters(seed, words / 20)}}}});
  }
  return tools;
}

Json tools_in_another_order(const Json& tools) {
  Json other = Json::array();
  other.push_back(tools.back());
  for (std::size_t i = 0; i + 1 < tools.size(); ++i) other.push_back(tools[i]);
  return other;
}

std::string billing_stamp(int request) {
  const std::string digits = std::to_string(10 + request);
  return "x-anthropic-billing-header: cc_version=2.1.101.e" + digits +
         "; cc_entrypoint=cli; cch=a51" + digits + ";";
}

std::string environment_block() {
  return "<env>\nWorking directory: /home/ada/project\nIs directory a git repo: Yes\n"
         "Platform: linux\nOS Version: Linux 6.8\nToday's date: 2026-11-30\n</env>\n";
}

std::string git_status(int edits) {
  std::string text = "gitStatus: the status at the start of the conversation.\nBranch: main\n";
  for (int i = 0; i < edits; ++i) text += " M src/part_" + std::to_string(i) + ".cc\n";
  return text + "Recent commits:\nadd the parser\nfirst version\n";
}

std::string reminder(const std::string& text) {
  return "<system-reminder>\n" + text + "\n</system-reminder>\n";
}

Json sampling_of_a_reply(bool calls, unsigned seed) {
  Json bias;
  for (const char* word : kWords) bias[word] = 48;
  bias[kEndOfThought] = 40;
  if (calls) bias[kCall] = 46;
  bias[kEndOfReply] = calls ? 10 : 46;
  return {{"temperature", 0.5},
          {"seed", seed},
          {"presence_penalty", 2},
          {"frequency_penalty", 2},
          {"repetition_penalty", 1.2},
          {"repeat_last_n", 1000},
          {"max_tokens", 500},
          {"parallel_tool_calls", false},
          {"logit_bias", std::move(bias)}};
}

std::string written_anew(const std::string& arguments) {
  std::string out;
  write_anew(Json::parse(arguments), out);
  return out;
}

}  // namespace samovar::testing
