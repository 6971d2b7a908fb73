#include "api/chat_reply.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/turn_end.h"
#include "api/turn_headers.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ChatReply::ChatReply(ReplyIdentity identity, bool logprobs, const ChatPath& chat,
                     std::unique_ptr<ReplyReader> reader, std::shared_ptr<TurnRecorder> recorder)
    : identity_(std::move(identity)),
      logprobs_wanted_(logprobs),
      chat_(chat),
      reader_(std::move(reader)),
      recorder_(std::move(recorder)) {}

bool ChatReply::on_event(TurnEvent event) {
  if (auto* text = std::get_if<TurnText>(&event)) {
    add(reader_->feed(text->text));
    logprobs_.insert(logprobs_.end(), std::make_move_iterator(text->tokens.begin()),
                     std::make_move_iterator(text->tokens.end()));
    return false;
  }
  if (const auto* finished = std::get_if<TurnFinished>(&event)) {
    add(reader_->finish());
    response_ = completion(*finished);
    return true;
  }
  if (const auto* started = std::get_if<TurnStarted>(&event)) {
    started_ = *started;
    if (recorder_ != nullptr) recorder_->started(*started);
    return false;
  }
  if (const auto* failed = std::get_if<TurnFailed>(&event)) {
    if (recorder_ != nullptr) recorder_->failed(*failed);
    response_ = failed->error.kind == ErrorKind::too_large ? context_length_response(failed->error)
                                                           : error_response(failed->error);
    return true;
  }
  return false;
}

void ChatReply::add(std::vector<ReplyDelta> deltas) {
  for (ReplyDelta& delta : deltas) message_.add(delta);
}

HttpResponse ChatReply::completion(const TurnFinished& finished) const {
  const char* finish = finish_reason(finished.reason, reader_->called_tool());
  Json timings = end_of_turn(finished, finish, message_.message(), recorder_.get());
  Json choice;
  choice["index"] = 0;
  choice["message"] = message_json(message_.message());
  choice["logprobs"] = logprobs_wanted_ ? logprobs_json(logprobs_, chat_) : Json();
  choice["finish_reason"] = finish;

  Json json;
  json["id"] = identity_.id;
  json["object"] = "chat.completion";
  json["created"] = identity_.created;
  json["model"] = identity_.model;
  json["system_fingerprint"] = kSystemFingerprint;
  json["choices"] = Json::array({std::move(choice)});
  json["usage"] = usage_json(finished.timings);
  json["timings"] = std::move(timings);
  HttpResponse response;
  response.body = json_text(json);
  if (recorder_ != nullptr) add_turn_headers(recorder_->report(), started_, response.headers);
  return response;
}

}  // namespace samovar
