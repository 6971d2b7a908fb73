#include "api/responses_dialect.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_text.h"
#include "api/reply_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ReplyBlock::Kind;

// As chat completions have them, element by element.
std::string logprob_elements(std::span<const Sampled> tokens, const ChatPath& chat) {
  std::string elements;
  const Json json = logprobs_json(tokens, chat);
  for (const Json& each : json["content"]) {
    if (!elements.empty()) elements += ',';
    elements += json_text(each);
  }
  return elements;
}

// A reply that was cut ends inside its last item; one that met a stop string may end inside a call.
bool ends_inside(const ReplyDone& reply) {
  if (reply.turn.reason == FinishReason::length) return true;
  return reply.turn.reason == FinishReason::stop && !reply.blocks.empty() &&
         reply.blocks.back().kind == Kind::tool_call;
}

}  // namespace

ResponsesDialect::ResponsesDialect(ResponseHead head, ResponsesOptions options,
                                   const ChatPath& chat, const Clock& clock)
    : head_(std::move(head)), options_(options), chat_(chat), clock_(clock) {}

void ResponsesDialect::opened(std::string& out) {
  ResponseState state;
  if (options_.background) state.status = "queued";
  emit_response("response.created", state, out);
  emit_response(options_.background ? "response.queued" : "response.in_progress", state, out);
}

void ResponsesDialect::planned(const TurnStarted&, std::string& out) {
  if (options_.background) emit_response("response.in_progress", ResponseState{}, out);
}

void ResponsesDialect::block_begins(const ReplyBlock& block, std::string& out) {
  if (!items_.empty() && items_.back().block.kind != Kind::tool_call) close(items_.back(), out);
  items_.push_back({.block = block, .id = item_id(head_.id, block.kind, block.index)});
  const Item& item = items_.back();
  emit("response.output_item.added",
       "\"output_index\":" + std::to_string(block.index) +
           ",\"item\":" + item_json(block, item.id, "in_progress", options_.reasoning),
       out);
  if (block.kind == Kind::tool_call) return;
  const bool summary = block.kind == Kind::reasoning && options_.reasoning.summary;
  emit(summary ? "response.reasoning_summary_part.added" : "response.content_part.added",
       place(item) + ",\"part\":" + part_json(block.kind, "", options_.reasoning), out);
}

void ResponsesDialect::block_grows(const ReplyBlock& block, std::string_view piece,
                                   std::span<const Sampled> tokens, std::string& out) {
  Item& item = items_[block.index];
  item.block.text += piece;
  std::string members = place(item) + ",\"delta\":";
  append_json_string(members, piece);
  switch (block.kind) {
    case Kind::reasoning:
      return emit(options_.reasoning.summary ? "response.reasoning_summary_text.delta"
                                             : "response.reasoning_text.delta",
                  members, out);
    case Kind::text:
      members += ",\"logprobs\":[" + add_logprobs(item, piece, tokens) + "]";
      return emit("response.output_text.delta", members, out);
    case Kind::tool_call:
      return emit("response.function_call_arguments.delta", members, out);
  }
}

void ResponsesDialect::ended(const ReplyDone& reply, std::string& out) {
  if (!items_.empty()) items_.back().cut = ends_inside(reply);
  for (Item& item : items_) close(item, out);
  ResponseState state = final_state(reply);
  state.output = output();
  emit_response("response." + state.status, state, out);
}

// What was said until then is kept in it; items that were open are incomplete.
void ResponsesDialect::failed(const Error& error, std::string& out) {
  for (Item& item : items_) item.cut = !item.done;
  ResponseState state;
  const bool cancelled = error.kind == ErrorKind::cancelled;
  state.status = cancelled ? "cancelled" : "failed";
  if (!cancelled) state.error = response_error(error);
  state.output = output();
  emit_response(cancelled ? "response.incomplete" : "response.failed", state, out);
}

// The chat template is asked in its own terms; the client knows `input`.
std::string ResponsesDialect::client_field(const std::string& field) const {
  constexpr std::string_view kFunction = ".function.";
  if (field.starts_with("messages")) return "input";
  if (field.starts_with("response_format")) return "text.format";
  const std::size_t function = field.find(kFunction);
  if (!field.starts_with("tools[") || function == std::string::npos) return field;
  return field.substr(0, function) + "." + field.substr(function + kFunction.size());
}

HttpResponse ResponsesDialect::whole(const ReplyDone& reply) {
  for (const ReplyBlock& block : reply.blocks) {
    items_.push_back({.block = block, .id = item_id(head_.id, block.kind, block.index)});
    if (block.kind == Kind::text) (void)add_logprobs(items_.back(), block.text, reply.logprobs);
  }
  if (!items_.empty()) items_.back().cut = ends_inside(reply);
  ResponseState state = final_state(reply);
  state.output = output();
  HttpResponse response;
  response.body = response_json(head_, state);
  return response;
}

void ResponsesDialect::emit(std::string_view type, std::string_view members, std::string& out) {
  out += "event: ";
  out += type;
  out += "\ndata: {\"type\":\"";
  out += type;
  out += "\",\"sequence_number\":" + std::to_string(next_++) + ",";
  out += members;
  out += "}\n\n";
}

void ResponsesDialect::emit_response(std::string_view type, const ResponseState& state,
                                     std::string& out) {
  emit(type, "\"response\":" + response_json(head_, state), out);
}

void ResponsesDialect::close(Item& item, std::string& out) {
  if (std::exchange(item.done, true)) return;
  close_part(item, out);
  emit("response.output_item.done",
       "\"output_index\":" + std::to_string(item.block.index) + ",\"item\":" +
           item_json(item.block, item.id, item.cut ? "incomplete" : "completed", options_.reasoning,
                     "[" + item.logprobs + "]"),
       out);
}

void ResponsesDialect::close_part(const Item& item, std::string& out) {
  const ReplyBlock& block = item.block;
  if (block.kind == Kind::tool_call) {
    std::string members = place(item) + ",\"name\":" + json_string(block.name) + ",\"arguments\":";
    append_json_string(members, block.text);
    return emit("response.function_call_arguments.done", members, out);
  }
  const std::string logprobs = "[" + item.logprobs + "]";
  const bool summary = block.kind == Kind::reasoning && options_.reasoning.summary;
  std::string members = place(item) + ",\"text\":";
  append_json_string(members, block.text);
  if (block.kind == Kind::text) {
    emit("response.output_text.done", members + ",\"logprobs\":" + logprobs, out);
  } else {
    emit(summary ? "response.reasoning_summary_text.done" : "response.reasoning_text.done", members,
         out);
  }
  emit(summary ? "response.reasoning_summary_part.done" : "response.content_part.done",
       place(item) + ",\"part\":" + part_json(block.kind, block.text, options_.reasoning, logprobs),
       out);
}

// Of an event: which item, and which of its parts.
std::string ResponsesDialect::place(const Item& item) const {
  std::string members = "\"item_id\":" + json_string(item.id) +
                        ",\"output_index\":" + std::to_string(item.block.index);
  if (item.block.kind == Kind::tool_call) return members;
  const bool summary = item.block.kind == Kind::reasoning && options_.reasoning.summary;
  return members + (summary ? ",\"summary_index\":0" : ",\"content_index\":0");
}

// Remembers those of `piece`, and returns them.
std::string ResponsesDialect::add_logprobs(Item& item, std::string_view piece,
                                           std::span<const Sampled> tokens) const {
  if (!options_.logprobs || tokens.empty()) return {};
  std::string elements = logprob_elements(tokens_of_text(tokens, piece, chat_), chat_);
  if (!item.logprobs.empty() && !elements.empty()) item.logprobs += ',';
  item.logprobs += elements;
  return elements;
}

std::string ResponsesDialect::output() const {
  std::string json = "[";
  for (const Item& item : items_) {
    if (json.size() > 1) json += ',';
    json += item_json(item.block, item.id, item.cut ? "incomplete" : "completed",
                      options_.reasoning, "[" + item.logprobs + "]");
  }
  return json + "]";
}

ResponseState ResponsesDialect::final_state(const ReplyDone& reply) const {
  ResponseState state;
  set_finish(reply.finish, state);
  state.completed = clock_.wall_seconds();
  const TurnTimings& timings = reply.turn.timings;
  state.usage = response_usage(timings, reasoning_tokens(reply.tokens, reply.blocks, chat_));
  state.timings = json_text(reply.timings);
  return state;
}

}  // namespace samovar
