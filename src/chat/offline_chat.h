// OfflineChat: a model's chat template and tokeniser without its weights, for tools that look at
// prompts and compute nothing. Owned by its opener; as thread-safe as the ChatFormat in it. Loading
// fails on files that are missing, no model, or without a usable template.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "chat/chat_format.h"

namespace samovar {

class OfflineChat {
 public:
  static Result<std::unique_ptr<OfflineChat>> open(const std::string& model_path,
                                                   ChatFormatOptions options);
  ~OfflineChat();

  [[nodiscard]] const ChatFormat& format() const;

 private:
  struct Impl;
  explicit OfflineChat(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whether the template still shows the reasoning of a reply once a user message follows it. Found
// by rendering a small conversation; nullopt: the template would not take it.
[[nodiscard]] std::optional<bool> keeps_reasoning(const ChatFormat& format,
                                                  const ChatRequest& options);

}  // namespace samovar
