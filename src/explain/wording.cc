#include "explain/wording.h"

#include <fmt/format.h>

namespace samovar {
namespace {

// Without the tool's name: a title may end up in a header.
std::string place(const Explanation& e) {
  if (!e.first) return "the prompt";
  FirstDifference bare = *e.first;
  bare.tool.clear();
  if (bare.message) bare.field.clear();
  return place_text(bare);
}

std::string whose(const Explanation& e) {
  if (!e.first || !e.first->message) return place(e);
  const std::string role = e.first->role ? to_string(*e.first->role) : "";
  if (role == "system" || role == "developer") return "the system prompt";
  if (role == "tool") return "the tool result in " + place(e);
  return place(e);
}

std::string tokens(Position count) {
  return with_commas(static_cast<std::uint64_t>(count)) + (count == 1 ? " token" : " tokens");
}

struct Words {
  std::string title;
  std::string detail;
  std::string remedy;
};

Words volatile_words(const Explanation& e, const Story& s) {
  const std::string where = whose(e);
  const std::string move_it =
      "Everything behind it is computed again whenever it changes. Put it at the end of the newest "
      "user message instead";
  if (s.billing_line) {
    return {fmt::format("Claude Code's billing line in {} changed", where),
            "The line x-anthropic-billing-header carries values that differ in every request and "
            "mean nothing to the model.",
            "Start the server with --neutralise claude-code-billing (on by default), or set "
            "CLAUDE_CODE_ATTRIBUTION_HEADER=0 for Claude Code"};
  }
  switch (e.cause) {
    case Cause::unique_id:
      if (e.first && (e.first->field.ends_with("id"))) {
        return {fmt::format("The id of a tool call in {} changed", place(e)),
                "The template shows the ids of tool calls.",
                "Send every tool call and its result back with the id that the server gave it"};
      }
      return {fmt::format("A unique id in {} changed", where),
              "An id that is made anew for each request stands there.",
              fmt::format("Take the id out of the prompt (request metadata is the place for it), "
                          "or keep one for the whole session. {}",
                          move_it)};
    case Cause::time_or_date:
      return {fmt::format("A time or date in {} changed", where),
              "The text there names the time at which it was made.",
              fmt::format("Fix the time when the session starts, or give the date without the "
                          "time of day. {}",
                          move_it)};
    default:
      return {fmt::format("A number or hash in {} changed", where),
              s.git_status ? "It belongs to a git status, which changes with every commit or edit."
                           : "A count, a version or a hash stands there that moves between turns.",
              fmt::format("Leave it out, or fix its value when the session starts. {}", move_it)};
  }
}

Words tool_words(const Explanation& e, const Story& s) {
  const std::string named =
      e.first && !e.first->tool.empty() ? fmt::format("the tool \"{}\"", e.first->tool) : "a tool";
  switch (e.cause) {
    case Cause::tool_order:
      return {"The tools came in another order",
              fmt::format("They are the same tools as before; the first that stands elsewhere is "
                          "{}.",
                          named),
              "Have the client send its tools in a fixed order, such as by name, or start the "
              "server with --sort-tools, which does that for every request"};
    case Cause::tool_schema_changed:
      return {fmt::format("The definition of {} changed", place(e)),
              s.respelled ? fmt::format("The definition of {} says the same as before, but its "
                                        "JSON is written in another order or spacing.",
                                        named)
                          : fmt::format("The client describes {} differently from before.", named),
              s.respelled ? "Have the client write schemas with a fixed order of keys"
                          : "Keep descriptions and schemas the same for the whole session; what "
                            "changes belongs at the end of the newest user message"};
    default:
      return {s.dropped ? "A tool was taken away" : "A tool was added",
              fmt::format("It is {}. Templates show all tools before the conversation, so "
                          "everything behind the list is computed again.",
                          named),
              "Offer all tools from the first turn on: wait for tool servers (MCP) before the "
              "session starts, and forbid a tool by tool_choice or in words rather than by "
              "leaving it out"};
  }
}

Words history_words(const Explanation& e, const Story& s) {
  switch (e.cause) {
    case Cause::system_text_edited:
      return {
          "The system prompt changed",
          s.git_status ? "The part that differs belongs to a git status." : "",
          "Keep the system prompt the same for the whole session. What changes (open files, git "
          "status, memories, reminders) costs nothing at the end of the newest user message"};
    case Cause::history_compacted:
      return {
          "The history was compacted",
          s.messages_lost > 0
              ? fmt::format("{} messages of the turn before are no longer there.", s.messages_lost)
              : "Several messages of the turn before came back shortened.",
          "This is what compacting costs, once. To make it rarer, tell the client the real "
          "size of the context (GET /v1/models shows it) and let it drop more at a time"};
    default:
      if (e.first && e.first->field == "role") {
        return {fmt::format("The history changed from {} on", place(e)),
                "A message was removed or put in before the end of the conversation.",
                "Only add to the end of a conversation. Where an earlier point is taken up on "
                "purpose, this is what it costs, once"};
      }
      return {fmt::format("An earlier message was edited: {}", place(e)),
              s.reminder ? "A <system-reminder> in it came or went: the client moves it along with "
                           "the newest message."
                         : "The conversation before the newest message is not what it was.",
              s.reminder ? "Leave reminders where they were sent first, or put them into a message "
                           "of their own at the end. The server learns the place: from the third "
                           "turn on only what follows it is computed again"
                         : "Only add to the end of a conversation, and send earlier messages back "
                           "byte for byte"};
  }
}

Words missing_reply_words(const Explanation& e, const Story& s) {
  const std::string reply =
      s.reply_tokens > 0 ? fmt::format("a reply of {}", tokens(s.reply_tokens)) : "a reply";
  const std::string fetch =
      e.kept_reply.empty()
          ? "Have the client keep what it has received when it is interrupted, and send it as an "
            "assistant message before the next user message"
          : fmt::format(
                "The server kept it: GET /v1/samovar/turns/{} has it. Put it into the "
                "conversation as an assistant message before the newer user message",
                e.kept_reply);
  return {fmt::format("The reply before {} is missing", place(e)),
          fmt::format("The turn before got {}, probably an interrupted one, and two messages "
                      "without a reply between them show that the client dropped it: the model "
                      "does not know what it has said and done.",
                      reply),
          fetch};
}

Words reply_words(const Explanation& e, const Story& s) {
  switch (e.cause) {
    case Cause::reply_missing:
      return missing_reply_words(e, s);
    case Cause::reasoning_dropped_by_template:
      return {"The template dropped the reasoning of earlier replies",
              "Templates of this kind show reasoning only until the next user message; then the "
              "same messages look different to the model, from the first dropped thought on.",
              "Nothing is wrong with the client. Leave the server's re-warming on, which computes "
              "the shortened history in idle time. Some templates keep reasoning where "
              "chat_template_kwargs ask for it, by {\"preserve_thinking\": true} or, GLM's, "
              "{\"clear_thinking\": false}"};
    case Cause::reasoning_dropped_by_client:
      return {fmt::format("The client left out the reasoning of {}", place(e)),
              "The model's reasoning was part of what had been computed.",
              s.keeps_reasoning == true
                  ? "Have the client send reasoning_content back with its assistant messages"
                  : "Have the client send reasoning_content back with its assistant messages, at "
                    "least until the next user message; from there on most templates drop it "
                    "anyway"};
    default:
      if (s.by_template) {
        return {"The reply came back in other tokens",
                "Its text is the same, but the template or the tokeniser makes other tokens of it "
                "than were sampled.",
                "Send the reply back exactly as it was received, so that the server can use the "
                "tokens that it sampled"};
      }
      return {fmt::format("The reply in {} came back altered", place(e)),
              s.respelled ? "It says the same, but its JSON is written in another order or spacing."
                          : "It is not what the model had replied.",
              "Send replies back as they came, tool arguments as the very string that was received "
              "instead of one made anew from the parsed object"};
  }
}

Words evicted_words(const Story& s, const std::string& had) {
  if (s.facts.evicted_disk >= s.facts.evicted_memory) {
    return {"The conversation had been evicted from the disk",
            had + fmt::format(" The disk had held {} and gave them up to make room.",
                              tokens(s.facts.evicted_disk)),
            "Give the store more room (--store-size), or keep what must stay with `samovar cache "
            "pin`"};
  }
  const std::string memory =
      had + fmt::format(" {} had left memory to make room", tokens(s.facts.evicted_memory));
  const std::string more = "more conversations in memory (--sequences, --ctx-size, --memory)";
  if (!s.facts.store_on) {
    return {"The conversation had left memory",
            memory + ". The store on disk is off, so what leaves memory is gone.",
            "Start the server with --store, or keep " + more};
  }
  return {"The conversation had left memory and was not on disk",
          memory + fmt::format("; the disk had {}.", tokens(s.facts.stored)),
          "Give the store more to write (--store-writes-per-day), let it write sooner "
          "(--store-quiet, --store-window), or keep " +
              more};
}

Words never_stored_words(const Story& s, const std::string& had) {
  if (!s.facts.store_on) {
    return {s.same_run ? "The conversation was not in memory" : "The server had been restarted",
            had + " The store on disk is off, so what is not in memory is gone.",
            "Start the server with --store"};
  }
  return {s.same_run ? "The conversation was neither in memory nor on disk"
                     : "The conversation was not on disk when the server started anew",
          had + fmt::format(" The disk had {}.", tokens(s.facts.stored)),
          "Give the store more room (--store-size) or more to write "
          "(--store-writes-per-day), or let it write sooner (--store-quiet, --store-window); "
          "`samovar cache ls` shows what it holds"};
}

Words state_words(const Explanation& e, const Story& s) {
  const std::string had = fmt::format("{} of the prompt were the same as before, {} were reused.",
                                      tokens(s.at), tokens(s.reused.value_or(0)));
  switch (e.cause) {
    case Cause::evicted:
      return evicted_words(s, had);
    case Cause::never_stored:
      return never_stored_words(s, had);
    case Cause::restore_failed:
      return {"What was on disk could not be restored",
              had + (s.facts.restore_problem.empty()
                         ? std::string()
                         : fmt::format(" The reason: {}.", s.facts.restore_problem)),
              "Bad files are set aside and never tried again. `samovar cache verify` checks the "
              "others; if it finds more, look after the disk"};
    default:
      return {"The nearest point to resume from lay earlier",
              had + " A state can only be taken up where a snapshot of it was kept.",
              "A smaller --anchor-grid or more --anchor-memory keeps snapshots closer together"};
  }
}

Words change_words(const Explanation& e, const Story& s) {
  switch (e.cause) {
    case Cause::whitespace:
      return {fmt::format("Only white space in {} changed", whose(e)),
              s.in_reply ? "The reply came back with other spaces or line ends." : "",
              "Something between client and server trims or reflows the text. Send it back byte "
              "for byte"};
    case Cause::model_changed:
      return {"Another model answered",
              "What one model has computed is of no use to another; a different quantisation or "
              "type of K/V cache is a different model too.",
              "Stay with one model for a session"};
    default:
      if (s.by_template) {
        return {fmt::format("The template showed {} differently", place(e)),
                "The messages are the same as before; what the chat template makes of them is "
                "not.",
                "Look at the old and new text: where the template writes something volatile, give "
                "the server another one with --chat-template-file"};
      }
      return {e.first && e.first->field == "template"
                  ? "The chat template changed"
                  : fmt::format("An option of the template changed: {}", place(e)),
              "The template writes it into the prompt.",
              "Keep options such as enable_thinking, reasoning_effort and chat_template_kwargs the "
              "same for the whole session"};
  }
}

Words words_for(const Explanation& e, const Story& s) {
  switch (e.cause) {
    case Cause::none:
      return {"Nothing of note was computed again", "", ""};
    case Cause::first_turn:
      return {"This is the first turn of its conversation", "", ""};
    case Cause::unique_id:
    case Cause::time_or_date:
    case Cause::counter_or_hash:
      return volatile_words(e, s);
    case Cause::tool_order:
    case Cause::tool_schema_changed:
    case Cause::tools_added_or_removed:
      return tool_words(e, s);
    case Cause::system_text_edited:
    case Cause::history_edited:
    case Cause::history_compacted:
      return history_words(e, s);
    case Cause::reply_altered:
    case Cause::reply_missing:
    case Cause::reasoning_dropped_by_template:
    case Cause::reasoning_dropped_by_client:
      return reply_words(e, s);
    case Cause::evicted:
    case Cause::never_stored:
    case Cause::restore_failed:
    case Cause::partly_reused_granularity:
      return state_words(e, s);
    case Cause::whitespace:
    case Cause::template_or_option_changed:
    case Cause::model_changed:
      return change_words(e, s);
  }
  return {};
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (!text.empty()) text += ' ';
  text += sentence;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

void put_into_words(const Story& story, Explanation& explanation) {
  Words words = words_for(explanation, story);
  if (!words.remedy.empty()) words.remedy += '.';
  // A lost reply is worth knowing of even where something else cost more.
  if (story.reply_missing && explanation.cause != Cause::reply_missing) {
    const Words missing = missing_reply_words(explanation, story);
    add_sentence(words.detail, "Besides: " + missing.detail);
    add_sentence(words.remedy, missing.remedy + ".");
  }
  explanation.title = std::move(words.title);
  explanation.detail = std::move(words.detail);
  explanation.remedy = std::move(words.remedy);
}

}  // namespace samovar
