// What people type to name something in a store, and what it means.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "store/store_family.h"

namespace samovar {
namespace {

constexpr std::size_t kCandidatesShown = 10;

struct Candidate {
  std::string id;
  std::string what;
  StoreTarget target;
};

// "" if `id` is not the beginning of one.
std::string hex_digits(std::string_view id) {
  std::string digits(id);
  for (char& digit : digits) {
    if (digit >= 'A' && digit <= 'F') digit = static_cast<char>(digit - 'A' + 'a');
  }
  const bool hex = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hex && digits.size() >= kIdDigitsMin ? digits : "";
}

std::vector<Candidate> candidates_for(const std::vector<BlobRecord>& records,
                                      const std::vector<Identity>& pins,
                                      const std::string& digits) {
  std::set<SessionId> sessions;
  std::set<Identity> nodes(pins.begin(), pins.end());
  for (const BlobRecord& record : records) {
    if (record.session.known()) sessions.insert(record.session);
    nodes.insert(record.identity);
  }
  std::vector<Candidate> found;
  for (const SessionId& session : sessions) {
    std::string id = session.hex();
    if (id.starts_with(digits)) found.push_back({std::move(id), "session", {session, {}}});
  }
  for (const Identity& node : nodes) {
    std::string id = node.hex();
    if (id.starts_with(digits)) found.push_back({std::move(id), "entry", {{}, node}});
  }
  return found;
}

}  // namespace

Result<StoreTarget> find_target(const std::vector<BlobRecord>& records,
                                const std::vector<Identity>& pins, std::string_view id) {
  const std::string digits = hex_digits(id);
  if (digits.empty()) {
    return fail(ErrorKind::invalid_argument, fmt::format("\"{}\" is not an id", id), "ID",
                fmt::format("An id is {} hex digits or more, as `samovar cache ls` shows them",
                            kIdDigitsMin));
  }
  const auto found = candidates_for(records, pins, digits);
  if (found.empty()) {
    return fail(ErrorKind::not_found, fmt::format("no session or entry has an id like {}", id), "",
                "`samovar cache ls` and `ls --entries` show them all");
  }
  if (found.size() == 1) return found.front().target;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), kCandidatesShown); ++i) {
    list += fmt::format("\n  {} {}", found[i].what, found[i].id);
  }
  if (found.size() > kCandidatesShown) list += "\n  ...";
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} ids begin with {}:{}\n", found.size(), id, list), "",
              "Give more digits");
}

Result<SessionId> find_session(const std::vector<BlobRecord>& records, std::string_view name) {
  std::set<SessionId> sessions;
  for (const BlobRecord& record : records) {
    if (record.session.known()) sessions.insert(record.session);
  }
  const SessionId keyed = session_of_key(name);
  const std::string digits = hex_digits(name);
  std::vector<SessionId> found;
  for (const SessionId& session : sessions) {
    const bool like = !digits.empty() && session.hex().starts_with(digits);
    if (session == keyed || like) found.push_back(session);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("no session is called \"{}\": nothing here was written for it", name),
                "--session",
                "Give the client's prompt_cache_key, or an id that `samovar cache ls` shows");
  }
  std::string list;
  for (const SessionId& session : found) list += "\n  " + session.hex();
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} sessions are called {}:{}\n", found.size(), name, list), "--session",
              "Give more digits");
}

Result<std::vector<Fingerprint>> find_models(const std::vector<BlobRecord>& records,
                                             std::string_view name) {
  std::set<Fingerprint> found;
  const std::string digits = hex_digits(name);
  for (const BlobRecord& record : records) {
    const bool like = !digits.empty() && record.model.hex().starts_with(digits);
    if (record.label == name || like) found.insert(record.model);
  }
  if (found.empty()) {
    return fail(ErrorKind::not_found, fmt::format("no model here is called \"{}\"", name),
                "--model", "`samovar cache stats` lists the models");
  }
  return std::vector(found.begin(), found.end());
}

}  // namespace samovar
