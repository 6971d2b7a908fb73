#include "bench/answer_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace samovar::bench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRefusedMax = 65536;  // bytes of a refusal's body that are kept

bool calls_tool(const Json& json) {
  if (!json.is_object()) return false;
  const auto choices = json.find("choices");
  if (choices == json.end() || !choices->is_array() || choices->empty()) return false;
  const Json& choice = choices->front();
  const auto delta = choice.is_object() ? choice.find("delta") : choice.end();
  return delta != choice.end() && delta->is_object() && delta->contains("tool_calls");
}

void read_timings(const Json& json, Answer& answer) {
  const auto timings = json.is_object() ? json.find("timings") : json.end();
  if (timings == json.end() || !timings->is_object()) return;
  for (const auto& [name, value] : timings->items()) {
    if (value.is_number()) answer.timings[name] = value.get<double>();
    if (name == "source" && value.is_string()) answer.source = value.get<std::string>();
  }
}

}  // namespace

void AnswerReader::head(int status, std::string miss) {
  answer_.status = status;
  answer_.miss = std::move(miss);
}

void AnswerReader::feed(std::string_view bytes, Micros now) {
  if (answer_.status < 200 || answer_.status >= 300) {
    refused_ += bytes.substr(0, kRefusedMax - std::min(kRefusedMax, refused_.size()));
    return;
  }
  for (const client::SseEvent& each : parser_.push(bytes)) event(each.data, now);
}

void AnswerReader::event(std::string_view data, Micros now) {
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const auto chunk = client::parse_chunk(data);
  if (!chunk) {
    ++unreadable_;
    return;
  }
  bool piece = !chunk->content.empty() || !chunk->reasoning.empty();
  // Few events have either; the others are not parsed twice.
  const bool timings = data.find("\"timings\"") != std::string_view::npos;
  if (timings || data.find("\"tool_calls\"") != std::string_view::npos) {
    const Json json = Json::parse(data, nullptr, false);
    if (timings) read_timings(json, answer_);
    piece = piece || calls_tool(json);
  }
  if (piece) answer_.pieces.push_back(now);
  answer_.content += chunk->content;
  answer_.reasoning += chunk->reasoning;
  if (!chunk->id.empty()) answer_.id = chunk->id;
  if (!chunk->tool.empty()) answer_.tool = chunk->tool;
  if (!chunk->finish.empty()) answer_.finish = chunk->finish;
  if (chunk->figures) answer_.figures.merge(*chunk->figures);
  if (!chunk->error.empty()) answer_.error = Error{ErrorKind::internal, chunk->error};
}

Answer AnswerReader::finish(Micros now, std::optional<Error> failure) {
  for (const client::SseEvent& each : parser_.finish()) event(each.data, now);
  answer_.ended = now;
  if (failure) {
    answer_.error = std::move(failure);
  } else if (!answer_.error && !done_ && answer_.finish.empty()) {
    answer_.error =
        unreadable_ > 0 || answer_.pieces.empty()
            ? Error{ErrorKind::invalid_argument, "the server's answer is no stream of events", "",
                    "is it an OpenAI-compatible server, and does it stream?"}
            : Error{ErrorKind::unavailable, "the reply ended without a finish_reason", "",
                    "see the server's log"};
  }
  return std::move(answer_);
}

}  // namespace samovar::bench
