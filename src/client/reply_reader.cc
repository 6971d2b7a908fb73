#include "client/reply_reader.h"

namespace samovar::client {

ReplyReader::Piece ReplyReader::feed(std::string_view bytes) {
  Piece piece;
  if (!streamed_) {
    whole_ += bytes;
    return piece;
  }
  for (const SseEvent& each : parser_.push(bytes)) event(each.data, piece);
  return piece;
}

ReplyReader::Piece ReplyReader::finish() {
  Piece piece;
  if (!streamed_) {
    event(whole_, piece);
    return piece;
  }
  for (const SseEvent& each : parser_.finish()) event(each.data, piece);
  return piece;
}

void ReplyReader::event(std::string_view data, Piece& piece) {
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const auto chunk = parse_chunk(data);
  if (!chunk) {
    ++unreadable_;
    return;
  }
  piece.content += chunk->content;
  piece.reasoning += chunk->reasoning;
  if (!chunk->id.empty()) id_ = chunk->id;
  if (!chunk->finish.empty()) finish_reason_ = chunk->finish;
  if (!chunk->tool.empty()) tool_ = chunk->tool;
  if (!chunk->error.empty()) error_ = chunk->error;
  if (chunk->figures) figures_.merge(*chunk->figures);
  if (chunk->progress) progress_ = chunk->progress;
}

}  // namespace samovar::client
