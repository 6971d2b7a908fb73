#include "api/turns_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/explain_json.h"
#include "api/json_response.h"
#include "api/json_text.h"
#include "api/query.h"
#include "api/turn_json.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kListMax = 1000;
constexpr const char* kChatCompletions = "chat.completions";  // the dialect

HttpResponse ok(const Json& json) { return json_response(json_text(json)); }

HttpResponse no_turn(const std::string& id) {
  return error_response({ErrorKind::not_found, fmt::format("there is no turn \"{}\"", id), "id",
                         "GET /v1/samovar/turns lists those that are kept; --ledger-days says how "
                         "long"});
}

Result<std::optional<TurnStatus>> status_of(const Query& query) {
  const auto text = query.find("status");
  if (!text) return std::nullopt;
  for (const TurnStatus status :
       {TurnStatus::running, TurnStatus::complete, TurnStatus::incomplete, TurnStatus::failed}) {
    if (*text == to_string(status)) return status;
  }
  return fail(ErrorKind::invalid_argument, fmt::format("'status' is \"{}\"", *text), "status",
              "use running, complete, incomplete or failed");
}

Result<TurnQuery> turn_query(const HttpRequest& request) {
  const Query query(request.query);
  TurnQuery turns;
  const auto limit = query.integer("limit", turns.limit, 1, kListMax);
  if (!limit) return std::unexpected(limit.error());
  const auto status = status_of(query);
  if (!status) return std::unexpected(status.error());
  turns.limit = static_cast<int>(*limit);
  turns.status = *status;
  turns.session = query.find("session").value_or("");
  // OpenAI's lists go on with `after`; in a list from new to old that is what was before.
  turns.before = query.find("before").value_or(query.find("after").value_or(""));
  return turns;
}

// One more than asked for tells whether there are more.
Json page(std::vector<TurnRecord>& turns, int limit,
          const std::function<Json(const TurnRecord&)>& each) {
  const bool more = static_cast<int>(turns.size()) > limit;
  if (more) turns.resize(static_cast<std::size_t>(limit));
  Json data = Json::array();
  for (const TurnRecord& turn : turns) data.push_back(each(turn));
  return {{"object", "list"}, {"data", std::move(data)}, {"has_more", more}};
}

Json kept_message(const TurnRecord& turn) {
  Json message = Json::parse(turn.message, nullptr, /*allow_exceptions=*/false);
  return message.is_discarded() ? Json() : message;
}

// As it was sent, or read from its tokens.
Json message_of(const TurnRecords& records, const TurnRecord& turn) {
  if (!turn.message.empty()) return kept_message(turn);
  const auto reply = records.reply_of(turn);
  return reply ? message_json(*reply) : Json();
}

}  // namespace

HttpResponse TurnsApi::turns(const HttpRequest& request, std::string_view rest) {
  if (rest.empty() || rest == "/") {
    return reads(request) ? list(request) : wrong_method(request, "GET, HEAD");
  }
  rest.remove_prefix(1);
  constexpr std::string_view kExplain = "/explain";
  if (rest.ends_with(kExplain)) {
    rest.remove_suffix(kExplain.size());
    return reads(request) ? explain(std::string(rest)) : wrong_method(request, "GET, HEAD");
  }
  if (request.method == "DELETE") return remove(std::string(rest));
  return reads(request) ? one(std::string(rest)) : wrong_method(request, "GET, HEAD, DELETE");
}

HttpResponse TurnsApi::list(const HttpRequest& request) {
  auto query = turn_query(request);
  if (!query) return error_response(query.error());
  const int limit = query->limit++;
  auto turns = records_.ledger().list(*query);
  if (!turns) return error_response(turns.error());
  return ok(page(*turns, limit, turn_json));
}

HttpResponse TurnsApi::one(const std::string& id) {
  const auto found = records_.ledger().find(id);
  if (!found) return error_response(found.error());
  if (!*found) return no_turn(id);
  const TurnRecord& turn = **found;
  Json json = turn_json(turn);
  json["reply"] = message_of(records_, turn);
  json["request"] = turn.request.empty()
                        ? Json()
                        : Json::parse(turn.request, nullptr, /*allow_exceptions=*/false);
  if (json["request"].is_discarded()) json["request"] = nullptr;
  return ok(json);
}

HttpResponse TurnsApi::explain(const std::string& id) {
  const auto found = records_.ledger().find(id);
  if (!found) return error_response(found.error());
  if (!*found) return no_turn(id);
  Json json = {{"id", id}};
  if (const auto miss = records_.explanation_of(**found)) {
    json.update(explanation_json(*miss, ExplainTexts::shown));
  } else {
    json["class"] = nullptr;
    json["title"] = "Not known yet: the turn is waiting, or ended before it was planned";
  }
  return ok(json);
}

HttpResponse TurnsApi::remove(const std::string& id) {
  const auto erased = records_.forget_turn(id);
  if (!erased) return error_response(erased.error());
  if (!*erased) return no_turn(id);
  return ok({{"id", id}, {"object", "samovar.turn.deleted"}, {"deleted", true}});
}

HttpResponse TurnsApi::session(const HttpRequest& request, std::string_view key) {
  if (request.method != "DELETE") return wrong_method(request, "DELETE");
  if (key.empty()) {
    return error_response({ErrorKind::invalid_argument, "no session is named", "session",
                           "DELETE /v1/samovar/sessions/{key}"});
  }
  const auto purged = records_.forget_session(std::string(key));
  if (!purged) return error_response(purged.error());
  return ok({{"session", key}, {"object", "samovar.session.deleted"}, {"turns", *purged}});
}

HttpResponse TurnsApi::completions(const HttpRequest& request, std::string_view id) {
  if (id.empty()) {
    return reads(request) ? list_completions(request) : wrong_method(request, "GET, HEAD, POST");
  }
  const std::string name(id);
  const auto found = records_.ledger().find(name);
  if (!found) return error_response(found.error());
  const bool kept = *found && (*found)->keep_text && (*found)->dialect == kChatCompletions &&
                    (*found)->status != TurnStatus::running;
  if (!kept) {
    return error_response({ErrorKind::not_found,
                           fmt::format("there is no stored completion {}", id), "id",
                           "send \"store\": true with a request to have its reply kept"});
  }
  if (request.method == "DELETE") {
    const auto erased = records_.forget_turn(name);
    if (!erased) return error_response(erased.error());
    return ok({{"id", id}, {"object", "chat.completion.deleted"}, {"deleted", *erased}});
  }
  if (!reads(request)) return wrong_method(request, "GET, HEAD, DELETE");
  return ok(completion_json(**found, message_of(records_, **found)));
}

HttpResponse TurnsApi::list_completions(const HttpRequest& request) {
  auto query = turn_query(request);
  if (!query) return error_response(query.error());
  query->text_only = query->whole = true;
  query->dialect = kChatCompletions;
  const int limit = query->limit++;
  auto turns = records_.ledger().list(*query);
  if (!turns) return error_response(turns.error());
  return ok(page(*turns, limit, [&](const TurnRecord& turn) {
    return completion_json(turn, message_of(records_, turn));
  }));
}

}  // namespace samovar
