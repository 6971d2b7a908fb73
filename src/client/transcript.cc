#include "client/transcript.h"

#include <nlohmann/json.hpp>

namespace samovar::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* name_of(ReplyEnd end) {
  switch (end) {
    case ReplyEnd::complete:
      return "complete";
    case ReplyEnd::cut:
      return "cut";
    case ReplyEnd::failed:
      return "failed";
  }
  return "failed";
}

void put(Json& json, const char* name, const std::optional<std::int64_t>& value) {
  if (value) json[name] = *value;
}

}  // namespace

Status Transcript::append(std::string line) {
  unwritten_.push_back(std::move(line));
  Status status;
  std::size_t done = 0;
  while (done < unwritten_.size() && status) {
    status = file_->append(unwritten_[done]);
    // What is written but not synced must not be written twice.
    if (status || status.error().kind == ErrorKind::unavailable) ++done;
  }
  unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(done));
  return status;
}

Status Transcript::setup(const ChatSetup& setup) {
  Json json = {{"kind", "chat"}, {"format", kFormat}, {"at", clock_.wall_seconds()}};
  json["model"] = setup.model;
  json["url"] = setup.url;
  json["thinking"] = setup.thinking ? Json(*setup.thinking) : Json(nullptr);
  return append(line_of(json));
}

Status Transcript::system(std::string_view text) {
  return append(line_of({{"kind", "system"}, {"content", text}}));
}

Status Transcript::user(std::string_view text) {
  return append(line_of({{"kind", "user"}, {"at", clock_.wall_seconds()}, {"content", text}}));
}

Status Transcript::piece(std::string_view content, std::string_view reasoning) {
  Json json = {{"kind", "piece"}};
  if (!reasoning.empty()) json["reasoning_content"] = reasoning;
  if (!content.empty()) json["content"] = content;
  return append(line_of(json));
}

Status Transcript::end(const ReplyNote& note) {
  Json json = {{"kind", "end"}, {"at", clock_.wall_seconds()}, {"reply", name_of(note.end)}};
  if (!note.finish.empty()) json["finish_reason"] = note.finish;
  if (!note.turn.empty()) json["turn"] = note.turn;
  put(json, "prompt_tokens", note.figures.prompt_tokens);
  put(json, "reused_tokens", note.figures.reused_tokens);
  put(json, "computed_tokens", note.figures.computed_tokens);
  put(json, "reply_tokens", note.figures.reply_tokens);
  return append(line_of(json));
}

Status Transcript::back(std::size_t messages) {
  return append(line_of({{"kind", "back"}, {"messages", messages}}));
}

}  // namespace samovar::client
