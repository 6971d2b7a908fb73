#include "chat/offline_chat.h"

#include <fmt/format.h>
#include <llama.h>

#include <filesystem>
#include <utility>

#include "engine/llama_log.h"
#include "engine/llama_model.h"

namespace samovar {

struct OfflineChat::Impl {
  LlamaModelPtr model;
  std::unique_ptr<ChatFormat> format;  // borrows the model
};

OfflineChat::OfflineChat(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OfflineChat::~OfflineChat() = default;

const ChatFormat& OfflineChat::format() const { return *impl_->format; }

Result<std::unique_ptr<OfflineChat>> OfflineChat::open(const std::string& model_path,
                                                       ChatFormatOptions options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(model_path, error)) {
    return fail(ErrorKind::not_found, fmt::format("the model file '{}' does not exist", model_path),
                "--model", "check the path");
  }
  route_llama_log();
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  auto impl = std::make_unique<Impl>();
  impl->model.reset(llama_model_load_from_file(model_path.c_str(), params));
  if (impl->model == nullptr) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' could not be loaded as a GGUF model", model_path), "--model",
                "give the file that the server is started with");
  }
  auto format = ChatFormat::create(impl->model.get(), std::move(options));
  if (!format) return std::unexpected(format.error());
  impl->format = std::move(*format);
  return std::unique_ptr<OfflineChat>(new OfflineChat(std::move(impl)));
}

std::optional<bool> keeps_reasoning(const ChatFormat& format, const ChatRequest& options) {
  constexpr const char* kThought = "samovar wonders about pears";
  ChatRequest probe;
  probe.template_arguments = options.template_arguments;
  probe.enable_thinking = options.enable_thinking;
  const auto add = [&probe](Role role, const char* content) {
    probe.messages.emplace_back();
    probe.messages.back().role = role;
    probe.messages.back().content = content;
  };
  add(Role::user, "Apples?");
  add(Role::assistant, "Yes.");
  probe.messages.back().reasoning = kThought;
  add(Role::user, "More?");
  const auto rendered = format.render(probe);
  if (!rendered) return std::nullopt;
  return rendered->text.find(kThought) != std::string::npos;
}

}  // namespace samovar
