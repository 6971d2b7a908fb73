// The ledger over HTTP. All but the last two answer in Samovar's own form.
//
//   GET    /v1/samovar/turns                  list, newest first: ?limit=&before=&session=&status=
//   GET    /v1/samovar/turns/{id}             one turn, with its reply where it is kept
//   GET    /v1/samovar/turns/{id}/explain     why it computed again what had been computed
//   DELETE /v1/samovar/turns/{id}             forgets it
//   DELETE /v1/samovar/sessions/{key}         forgets all turns of a session
//   GET    /v1/chat/completions               those that were sent with "store": true
//   GET    /v1/chat/completions/{id}          one of them; DELETE forgets it
//
// Thread-safe; borrows the records. Errors in OpenAI's form: not_found, invalid_argument with the
// query parameter at fault.
#pragma once

#include <string_view>

#include "api/http_types.h"
#include "turn/turn_records.h"

namespace samovar {

class TurnsApi {
 public:
  explicit TurnsApi(TurnRecords& records) : records_(records) {}

  // `rest` is the path after /v1/samovar/turns ("", "/id", "/id/explain").
  [[nodiscard]] HttpResponse turns(const HttpRequest& request, std::string_view rest);
  [[nodiscard]] HttpResponse session(const HttpRequest& request, std::string_view key);
  // `id` empty: the list.
  [[nodiscard]] HttpResponse completions(const HttpRequest& request, std::string_view id);

 private:
  [[nodiscard]] HttpResponse list(const HttpRequest& request);
  [[nodiscard]] HttpResponse one(const std::string& id);
  [[nodiscard]] HttpResponse explain(const std::string& id);
  [[nodiscard]] HttpResponse remove(const std::string& id);
  [[nodiscard]] HttpResponse list_completions(const HttpRequest& request);

  TurnRecords& records_;
};

}  // namespace samovar
