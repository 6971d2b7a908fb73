// What the tests of chat/ share: vocabularies and templates of the llama.cpp tree, short builders
// for requests, and a reply put together again from its deltas.
#pragma once

#include <gtest/gtest.h>
#include <llama.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chat/chat_format.h"

namespace samovar::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string template_source(const std::string& name) {
  const std::string source =
      read_file(SAMOVAR_LLAMA_DIR "/src/models/templates/" + name + ".jinja");
  EXPECT_FALSE(source.empty()) << "no template " << name;
  return source;
}

// A vocabulary of the llama.cpp tree ("qwen35", "llama-spm", ...), loaded once.
inline const llama_model* vocabulary(const std::string& name) {
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };
  static std::map<std::string, std::unique_ptr<llama_model, Free>> loaded;
  auto& model = loaded[name];
  if (model == nullptr) {
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    const std::string own = std::string(SAMOVAR_MODELS) + "/" + name + ".gguf";
    const std::string bundled =
        std::string(SAMOVAR_LLAMA_DIR) + "/src/models/ggml-vocab-" + name + ".gguf";
    const std::string& path = std::ifstream(own).good() ? own : bundled;
    model.reset(llama_model_load_from_file(path.c_str(), params));
  }
  return model.get();
}

// The default test model if it was made, else the vocabulary it is made from.
inline const llama_model* qwen_model() {
  const bool made = std::ifstream(SAMOVAR_MODELS "/tiny-qwen35moe.gguf").good();
  return vocabulary(made ? "tiny-qwen35moe" : "qwen35");
}

inline std::unique_ptr<ChatFormat> make_format(const std::string& template_name,
                                               const llama_model* model = qwen_model()) {
  auto format = ChatFormat::create(model, {template_source(template_name)});
  EXPECT_TRUE(format.has_value()) << (format ? "" : format.error().describe());
  return format ? std::move(*format) : nullptr;
}

inline ChatMessage message(Role role, std::string content) {
  ChatMessage result;
  result.role = role;
  result.content = std::move(content);
  return result;
}

inline ChatMessage call_message(std::string id, std::string name, std::string arguments) {
  ChatMessage result = message(Role::assistant, "");
  result.tool_calls.push_back({std::move(id), std::move(name), std::move(arguments)});
  return result;
}

inline ChatMessage tool_message(std::string id, std::string content) {
  ChatMessage result = message(Role::tool, std::move(content));
  result.tool_call_id = std::move(id);
  return result;
}

inline Tool weather_tool() {
  return {"get_weather", "The weather of a city.",
          R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},)"
          R"("required":["city"]})"};
}

inline Tool clock_tool() {
  return {"get_time", "The time in a zone.",
          R"({"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]})"};
}

inline RenderedChat render(const ChatFormat& format, const ChatRequest& request,
                           ReplySource* replies = nullptr) {
  auto chat = format.render(request, replies);
  EXPECT_TRUE(chat.has_value()) << (chat ? "" : chat.error().describe());
  return chat ? std::move(*chat) : RenderedChat{};
}

struct Reply {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;

  void add(const std::vector<ReplyDelta>& deltas) {
    for (const ReplyDelta& delta : deltas) {
      EXPECT_FALSE(delta.empty());
      reasoning += delta.reasoning;
      content += delta.content;
      if (!delta.tool_call) continue;
      const ReplyDelta::Call& call = *delta.tool_call;
      ASSERT_LE(call.index, calls.size());
      if (call.index == calls.size()) {
        EXPECT_FALSE(call.name.empty());
        calls.push_back({call.id, call.name, ""});
      } else {
        EXPECT_TRUE(call.id.empty() && call.name.empty()) << "only with the first piece";
      }
      calls[call.index].arguments += call.arguments;
    }
  }
};

// Feeds `text` in pieces of `step` bytes.
inline Reply parse(const RenderedChat& chat, const std::string& text, std::size_t step) {
  ReplyParser parser(chat.syntax);
  Reply reply;
  for (std::size_t at = 0; at < text.size(); at += step) {
    reply.add(parser.feed(std::string_view(text).substr(at, step)));
  }
  reply.add(parser.finish());
  EXPECT_EQ(parser.called_tool(), !reply.calls.empty());
  return reply;
}

}  // namespace samovar::testing
