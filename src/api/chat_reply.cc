#include "api/chat_reply.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ChatReply::ChatReply(ReplyIdentity identity, bool logprobs, const ChatPath& chat,
                     std::unique_ptr<ReplyReader> reader)
    : identity_(std::move(identity)),
      logprobs_wanted_(logprobs),
      chat_(chat),
      reader_(std::move(reader)) {}

bool ChatReply::on_event(TurnEvent event) {
  if (auto* text = std::get_if<TurnText>(&event)) {
    add(reader_->feed(text->text));
    logprobs_.insert(logprobs_.end(), std::make_move_iterator(text->tokens.begin()),
                     std::make_move_iterator(text->tokens.end()));
    return false;
  }
  if (const auto* finished = std::get_if<TurnFinished>(&event)) {
    add(reader_->finish());
    response_.body = completion_json(*finished);
    return true;
  }
  if (const auto* failed = std::get_if<TurnFailed>(&event)) {
    response_ = failed->error.kind == ErrorKind::too_large ? context_length_response(failed->error)
                                                           : error_response(failed->error);
    return true;
  }
  return false;
}

void ChatReply::add(std::vector<ReplyDelta> deltas) {
  for (ReplyDelta& delta : deltas) message_.add(delta);
}

std::string ChatReply::completion_json(const TurnFinished& finished) const {
  Json choice;
  choice["index"] = 0;
  choice["message"] = message_json(message_.message());
  choice["logprobs"] = logprobs_wanted_ ? logprobs_json(logprobs_, chat_) : Json();
  choice["finish_reason"] = finish_reason(finished.reason, reader_->called_tool());

  Json json;
  json["id"] = identity_.id;
  json["object"] = "chat.completion";
  json["created"] = identity_.created;
  json["model"] = identity_.model;
  json["system_fingerprint"] = kSystemFingerprint;
  json["choices"] = Json::array({std::move(choice)});
  json["usage"] = usage_json(finished.timings);
  json["timings"] = timings_json(finished.timings);
  return json_text(json);
}

}  // namespace samovar
