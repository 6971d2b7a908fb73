#include "bench/answer_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace samovar::bench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRefusedMax = 65536;  // bytes of a refusal's body that are kept

std::string text_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Adds the pieces of tool calls to those before. False: there are none.
bool read_calls(const Json& json, std::vector<AnswerCall>& calls) {
  if (!json.is_object()) return false;
  const auto choices = json.find("choices");
  if (choices == json.end() || !choices->is_array() || choices->empty()) return false;
  const Json& choice = choices->front();
  const auto delta = choice.is_object() ? choice.find("delta") : choice.end();
  if (delta == choice.end() || !delta->is_object()) return false;
  const auto pieces = delta->find("tool_calls");
  if (pieces == delta->end() || !pieces->is_array()) return false;
  for (const Json& piece : *pieces) {
    if (!piece.is_object()) continue;
    const auto index = piece.find("index");
    const std::size_t at = index != piece.end() && index->is_number_unsigned()
                               ? index->get<std::size_t>()
                               : calls.size();
    if (at > calls.size()) continue;  // out of order: it cannot be placed
    if (at == calls.size()) calls.emplace_back();
    calls[at].id += text_in(piece, "id");
    const auto function = piece.find("function");
    if (function == piece.end() || !function->is_object()) continue;
    calls[at].name += text_in(*function, "name");
    calls[at].arguments += text_in(*function, "arguments");
  }
  return !pieces->empty();
}

void read_timings(const Json& json, Answer& answer) {
  const auto timings = json.is_object() ? json.find("timings") : json.end();
  if (timings == json.end() || !timings->is_object()) return;
  for (const auto& [name, value] : timings->items()) {
    if (value.is_number()) answer.timings[name] = value.get<double>();
    if (name == "source" && value.is_string()) answer.source = value.get<std::string>();
    if (name != "miss" || !value.is_object()) continue;
    answer.miss_class = text_in(value, "class");
    const auto lost = value.find("tokens_lost");
    if (lost != value.end() && lost->is_number_integer()) answer.lost = lost->get<std::int64_t>();
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
    piece = read_calls(json, answer_.calls) || piece;
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
  } else if (!answer_.error && !answer_.cut && !done()) {
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
