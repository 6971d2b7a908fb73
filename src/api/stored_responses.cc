#include "api/stored_responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_fields.h"
#include "api/json_text.h"
#include "api/reply_json.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> not_kept(const std::string& id) {
  return fail(ErrorKind::not_found, fmt::format("there is no stored response \"{}\"", id), "id",
              "responses are kept if they were sent with \"store\": true, for as long as "
              "--ledger-days says");
}

std::shared_ptr<const Json> shared(Json json) {
  return std::make_shared<const Json>(std::move(json));
}

// The message as the ledger has it, in the form of a chat completion.
ChatMessage parse_message(const std::string& text) {
  ChatMessage message{.role = Role::assistant};
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return message;
  Problem ignored;
  const JsonObject fields(json, "", ignored);
  message.content = fields.string("content").value_or("");
  message.reasoning = fields.string("reasoning_content").value_or("");
  const Json* calls = fields.array("tool_calls", limits::tools_max);
  for (std::size_t i = 0; calls != nullptr && i < calls->size(); ++i) {
    const JsonObject call((*calls)[i], "", ignored);
    const auto function = call.object("function");
    if (!function) continue;
    message.tool_calls.push_back({.id = call.string("id").value_or(""),
                                  .name = function->string("name").value_or(""),
                                  .arguments = function->string("arguments").value_or("")});
  }
  return message;
}

// A request's own items, each with an id.
void append_input(const TurnRecord& record, Json& items) {
  const Json body = Json::parse(record.request, nullptr, /*allow_exceptions=*/false);
  const auto input = body.is_object() ? body.find("input") : body.end();
  if (!body.is_object() || input == body.end()) return;
  const auto id_of = [&](std::size_t index) {
    std::string id = item_id(record.id, ReplyBlock::Kind::text, index);
    return id.insert(id.rfind('_') + 1, "in");
  };
  if (input->is_string()) {
    items.push_back({{"id", id_of(0)},
                     {"type", "message"},
                     {"role", "user"},
                     {"content", Json::array({{{"type", "input_text"}, {"text", *input}}})}});
    return;
  }
  for (std::size_t i = 0; input->is_array() && i < input->size(); ++i) {
    Json item = (*input)[i];
    if (!item.is_object()) continue;
    if (item.contains("role") && !item.contains("type")) item["type"] = "message";
    if (!item.contains("id") || !item["id"].is_string()) item["id"] = id_of(i);
    items.push_back(std::move(item));
  }
}

}  // namespace

struct StoredResponses::Link {
  Json items = Json::array();  // input and output
  std::size_t inputs = 0;      // how many of them are input
  std::string previous;        // the response that it goes on from
  std::size_t bytes = 0;
  bool running = false;
};

StoredResponses::StoredResponses(TurnRecords* records, const ChatPath& chat, ChatDefaults defaults,
                                 std::string model)
    : records_(records), chat_(chat), defaults_(std::move(defaults)), model_(std::move(model)) {}

StoredResponses::~StoredResponses() = default;

Result<StoredResponse> StoredResponses::find(const std::string& id) const {
  if (records_ == nullptr) return not_kept(id);
  auto found = records_->ledger().find(id);
  if (!found) return std::unexpected(found.error());
  if (!*found || !(*found)->keep_text || (*found)->dialect != kResponsesDialect) {
    return not_kept(id);
  }
  auto request = parse_response_settings((*found)->request, defaults_);
  if (!request || !request->store) return not_kept(id);
  return StoredResponse{std::move(**found), std::move(*request)};
}

std::string StoredResponses::json(const StoredResponse& response) const {
  const TurnRecord& record = response.record;
  ResponseState state;
  if (record.status == TurnStatus::running) return response_json(head(response), state);
  state.completed = record.status == TurnStatus::complete ? record.ended : 0;
  state.output = output(response);
  const auto spoken = blocks(record);
  state.usage = response_usage(record.timings, reasoning_tokens(record.reply, spoken, chat_));
  state.timings = json_text(timings_json(record.timings));
  if (record.finish == kFinishCancelled) {
    state.status = "cancelled";
  } else if (record.status == TurnStatus::complete) {
    set_finish(record.finish, state);
  } else {
    state.status = "failed";
    state.error = response_error({ErrorKind::internal, record.error});
  }
  return response_json(head(response), state);
}

std::string StoredResponses::json_as(const StoredResponse& response, std::string status) const {
  ResponseState state;
  state.status = std::move(status);
  return response_json(head(response), state);
}

Result<Json> StoredResponses::input_items(const std::string& id) const {
  const auto links = chain(id);
  if (!links) return std::unexpected(links.error());
  Json items = Json::array();
  for (const auto& each : *links) {
    const std::size_t count = each == links->back() ? each->inputs : each->items.size();
    for (std::size_t i = 0; i < count; ++i) items.push_back(each->items[i]);
  }
  return items;
}

Result<bool> StoredResponses::forget(const std::string& id) const {
  const auto found = find(id);
  if (!found) return std::unexpected(found.error());
  return records_->forget_turn(id);
}

Result<std::vector<ResponseHistory::Items>> StoredResponses::conversation(
    const std::string& id) const {
  const auto links = chain(id);
  if (!links) return std::unexpected(links.error());
  std::vector<Items> items;
  for (const auto& each : *links) {
    if (each->running) {
      return fail(ErrorKind::invalid_argument, fmt::format("the response \"{}\" still runs", id),
                  "id", "wait for it, or cancel it first");
    }
    items.emplace_back(each, &each->items);
  }
  return items;
}

Result<std::shared_ptr<const Json>> StoredResponses::item(const std::string& id) const {
  const auto gone = [&] {
    return fail(ErrorKind::not_found, fmt::format("there is no stored item \"{}\"", id), "id",
                "send the item itself");
  };
  const std::string name = response_of_item(id);
  if (name.empty()) return gone();
  const auto response = find(name);
  if (!response) return gone();
  Json items = Json::parse(output(*response));
  append_input(response->record, items);
  for (Json& each : items) {
    if (each["id"] == id) return shared(std::move(each));
  }
  return gone();
}

// What it said, as far as that is known.
std::vector<ReplyBlock> StoredResponses::blocks(const TurnRecord& record) const {
  if (!record.message.empty()) return blocks_of(parse_message(record.message));
  const auto reply = records_->reply_of(record);
  return reply ? blocks_of(*reply) : std::vector<ReplyBlock>{};
}

std::string StoredResponses::output(const StoredResponse& response) const {
  const TurnRecord& record = response.record;
  const auto spoken = blocks(record);
  const bool cut = record.status != TurnStatus::complete || record.finish == "length";
  std::string out = "[";
  for (const ReplyBlock& block : spoken) {
    if (out.size() > 1) out += ',';
    const bool last = block.index + 1 == spoken.size();
    out += item_json(block, item_id(record.id, block.kind, block.index),
                     cut && last ? "incomplete" : "completed", response.request.reasoning);
  }
  return out + "]";
}

ResponseHead StoredResponses::head(const StoredResponse& response) const {
  return {.id = response.record.id,
          .created = response.record.created,
          .model = model_,
          .settings = response.request.settings};
}

Result<std::shared_ptr<const StoredResponses::Link>> StoredResponses::link(
    const std::string& id) const {
  const std::uint64_t now = records_ == nullptr ? 0 : records_->ledger().forgotten();
  {
    const std::scoped_lock lock(mutex_);
    if (memo_of_ != now || memo_bytes_ > kMemoBytes) {
      memo_.clear();
      memo_bytes_ = 0;
      memo_of_ = now;
    }
    if (const auto known = memo_.find(id); known != memo_.end()) return known->second;
  }
  const auto found = find(id);
  if (!found) return std::unexpected(found.error());
  auto made = std::make_shared<Link>();
  append_input(found->record, made->items);
  made->inputs = made->items.size();
  for (Json& item : Json::parse(output(*found))) made->items.push_back(std::move(item));
  made->previous = found->request.previous;
  made->bytes = json_text(made->items).size();
  made->running = found->record.status == TurnStatus::running;
  if (found->record.ended == 0) return made;  // more may be known of it soon
  const std::scoped_lock lock(mutex_);
  if (memo_of_ == now && memo_.emplace(id, made).second) memo_bytes_ += made->bytes;
  return made;
}

Result<StoredResponses::Links> StoredResponses::chain(const std::string& id) const {
  Links links;
  std::size_t bytes = 0;
  for (std::string next = id; !next.empty(); next = links.back()->previous) {
    auto found = link(next);
    if (!found) return std::unexpected(found.error());
    bytes += (*found)->bytes;
    if (links.size() == kChainMax || bytes > limits::body_bytes_max) {
      return fail(ErrorKind::invalid_argument, "the conversation has become too long",
                  "previous_response_id", "begin a new one with what matters of it as 'input'");
    }
    links.push_back(std::move(*found));
  }
  std::ranges::reverse(links);
  return links;
}

}  // namespace samovar
