#include "api/responses_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_response.h"
#include "api/json_text.h"
#include "api/query.h"
#include "api/reply_json.h"
#include "api/responses_dialect.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kItemsMax = 100;

// What was not honoured, for who does not read the body.
void add_left_out(const std::vector<std::string>& left_out, Headers& headers) {
  if (left_out.empty()) return;
  std::string value;
  for (const std::string& each : left_out) {
    for (const char byte : (value.empty() ? "" : ", ") + each) {
      value += byte >= ' ' && byte <= '~' ? byte : '?';
    }
    if (value.size() > 256) break;
  }
  headers.emplace_back("x-samovar-left-out", value);
}

Result<bool> flag(const Query& query, const char* name) {
  const auto text = query.find(name);
  if (!text || *text == "false" || *text == "0") return false;
  if (*text == "true" || *text == "1") return true;
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is \"{}\"", name, *text), name,
              "use true or false");
}

// One page of `items`, which are in order.
Result<Json> page(Json items, const Query& query) {
  const auto limit = query.integer("limit", 20, 1, kItemsMax);
  if (!limit) return std::unexpected(limit.error());
  const std::string order = query.find("order").value_or("desc");
  if (order != "asc" && order != "desc") {
    return fail(ErrorKind::invalid_argument, fmt::format("'order' is \"{}\"", order), "order",
                "use asc or desc");
  }
  if (order == "desc") std::ranges::reverse(items);
  auto first = items.begin();
  if (const auto after = query.find("after")) {
    first = std::find_if(items.begin(), items.end(),
                         [&](const Json& item) { return item["id"] == *after; });
    if (first == items.end()) {
      return fail(ErrorKind::invalid_argument, fmt::format("there is no item \"{}\"", *after),
                  "after", "use the last_id of the page before");
    }
    ++first;
  }
  Json data = Json::array();
  for (; first != items.end() && data.size() < static_cast<std::size_t>(*limit); ++first) {
    data.push_back(*first);
  }
  const Json first_id = data.empty() ? Json() : data.front()["id"];
  const Json last_id = data.empty() ? Json() : data.back()["id"];
  return Json{{"object", "list"},
              {"data", std::move(data)},
              {"first_id", first_id},
              {"last_id", last_id},
              {"has_more", first != items.end()}};
}

}  // namespace

ResponsesApi::ResponsesApi(TurnRunner& runner, BackgroundReplies& background, std::string model_id)
    : runner_(runner),
      background_(background),
      model_id_(std::move(model_id)),
      stored_(runner.records(), runner.chat(), runner.defaults(), model_id_) {}

HttpResponse ResponsesApi::handle(const HttpRequest& request, std::string_view rest) {
  if (rest.empty() || rest == "/") {
    return request.method == "POST" ? create(request) : wrong_method(request, "POST");
  }
  rest.remove_prefix(1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string id(rest.substr(0, slash));
  const std::string_view what = rest.substr(slash);
  if (what.empty()) {
    if (request.method == "DELETE") return remove(id);
    return reads(request) ? one(request, id) : wrong_method(request, "GET, HEAD, DELETE");
  }
  if (what == "/cancel") {
    return request.method == "POST" ? cancel(id) : wrong_method(request, "POST");
  }
  if (what == "/input_items") {
    return reads(request) ? input_items(request, id) : wrong_method(request, "GET, HEAD");
  }
  return error_response({ErrorKind::not_found, "there is no " + request.path + " here", "",
                         "a response has /cancel and /input_items"});
}

HttpResponse ResponsesApi::create(const HttpRequest& request) {
  const Micros began = runner_.clock().now();
  auto parsed = parse_responses_request(request.body, runner_.defaults(), &stored_, &items_);
  if (!parsed) return error_response(parsed.error());
  TurnOrigin origin{
      .id = random_id("resp_"), .dialect = kResponsesDialect, .background = parsed->background};
  const ResponsesOptions options{.reasoning = parsed->reasoning,
                                 .logprobs = parsed->logprobs,
                                 .background = parsed->background};
  const ResponseHead head{origin.id, runner_.clock().wall_seconds(), model_id_, parsed->settings};
  auto dialect = std::make_unique<ResponsesDialect>(head, options, runner_.chat(), runner_.clock());
  if (parsed->background) {
    return create_background(request, *parsed, head, std::move(origin), std::move(dialect), began);
  }
  const bool stream = parsed->stream;
  const std::vector<std::string> left_out = parsed->left_out;
  auto reply =
      runner_.begin_conversation(request, *parsed, std::move(origin), std::move(dialect), began);
  if (!reply) return runner_.refuse(reply.error(), ErrorForm::openai);
  HttpResponse response =
      stream ? stream_reply(std::move(*reply)) : collect_reply(**reply, request);
  add_left_out(left_out, response.headers);
  return response;
}

HttpResponse ResponsesApi::create_background(const HttpRequest& request, ResponsesRequest& parsed,
                                             const ResponseHead& head, TurnOrigin origin,
                                             std::unique_ptr<ReplyDialect> dialect, Micros began) {
  const bool stream = std::exchange(parsed.stream, true);
  const std::string& id = head.id;
  const std::vector<std::string> left_out = parsed.left_out;
  const auto started = background_.start(id, [&] {
    return runner_.begin_conversation(request, parsed, std::move(origin), std::move(dialect),
                                      began);
  });
  if (!started) return runner_.refuse(started.error(), ErrorForm::openai);
  HttpResponse response;
  const auto events = stream ? background_.events(id) : nullptr;
  if (events != nullptr) {
    response = follow_events(events, 0, runner_.clock(), runner_.timing());
  } else {
    response = json_response(response_json(head, {.status = "queued"}));
  }
  response.headers.emplace_back("x-samovar-turn", id);
  add_left_out(left_out, response.headers);
  return response;
}

HttpResponse ResponsesApi::one(const HttpRequest& request, const std::string& id) {
  const auto stream = flag(Query(request.query), "stream");
  if (!stream) return error_response(stream.error());
  if (*stream) return resume(request, id);
  const auto found = stored_.find(id);
  if (!found) return error_response(found.error());
  return json_response(json_now(*found));
}

// A background response knows more of its state than the ledger.
std::string ResponsesApi::json_now(const StoredResponse& response) const {
  const std::string& id = response.record.id;
  if (response.record.status != TurnStatus::running) return stored_.json(response);
  if (background_.cancelled(id)) return stored_.json_as(response, "cancelled");
  const auto events = background_.events(id);
  const bool queued = events != nullptr && events->events() <= ResponsesDialect::kEventsWhileQueued;
  return stored_.json_as(response, queued ? "queued" : "in_progress");
}

HttpResponse ResponsesApi::resume(const HttpRequest& request, const std::string& id) {
  const auto after =
      Query(request.query)
          .integer("starting_after", -1, 0, std::numeric_limits<std::int32_t>::max());
  if (!after) return error_response(after.error());
  const auto found = stored_.find(id);
  if (!found) return error_response(found.error());
  const auto events = background_.events(id);
  if (events == nullptr) {
    return error_response({ErrorKind::invalid_argument,
                           fmt::format("the events of \"{}\" are not kept", id), "stream",
                           "fetch it without 'stream'; only background responses have events to "
                           "come back to, for some time and until the server ends"});
  }
  return follow_events(events, static_cast<std::size_t>(*after + 1), runner_.clock(),
                       runner_.timing());
}

HttpResponse ResponsesApi::remove(const std::string& id) {
  const auto gone = stored_.forget(id);
  if (!gone) return error_response(gone.error());
  background_.forget(id);
  return json_response(json_text({{"id", id}, {"object", "response"}, {"deleted", *gone}}));
}

HttpResponse ResponsesApi::cancel(const std::string& id) {
  const auto found = stored_.find(id);
  if (!found) return error_response(found.error());
  if (!found->request.background) {
    return error_response({ErrorKind::invalid_argument,
                           fmt::format("\"{}\" does not run in the background", id), "id",
                           "close its connection to end it"});
  }
  background_.cancel(id);
  const auto now = stored_.find(id);  // it may have been completed meanwhile
  return now ? json_response(json_now(*now)) : error_response(now.error());
}

HttpResponse ResponsesApi::input_items(const HttpRequest& request, const std::string& id) {
  auto items = stored_.input_items(id);
  if (!items) return error_response(items.error());
  const auto list = page(std::move(*items), Query(request.query));
  return list ? json_response(json_text(*list)) : error_response(list.error());
}

}  // namespace samovar
