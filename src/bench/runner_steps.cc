// What each step of a plan asks for. After Runner::ask(), all of it is the client's side of a
// conversation.
#include <fmt/format.h>

#include <algorithm>

#include "bench/runner.h"

namespace samovar::bench {
namespace {

constexpr std::int64_t kFollowUpTokens = 8;  // of a reply whose first piece matters
constexpr std::int64_t kKnown = 64;          // reused tokens that an unknown conversation may have
constexpr const char* kFixedReply = "Understood.";
constexpr Micros kRestMost = 120 * kSecond;
constexpr Micros kLook = kSecond / 2;

Measurement failed(const Error& error) {
  Measurement measured;
  measured.missing = "failed: " + error.describe();
  return measured;
}

}  // namespace

Measurement Runner::perform(Subject& subject, const Task& task) {
  if (!tools_.wait(options_.pause)) return failed({ErrorKind::cancelled, "stopped"});
  if (task.begins) return begin(subject, task);
  switch (task.step) {
    case Step::decode:
      return follow_up(subject, task, reply_of(task));
    case Step::write:
      return write(subject, task);
    case Step::edit:
      change_middle(subject.talks[task.session], task);
      break;
    case Step::side:
      if (auto status = ask_aside(subject, task); !status) return failed(status.error());
      break;
    case Step::restart_warm:
    case Step::restart_cold:
      if (auto status = start_again(subject, task); !status) return failed(status.error());
      break;
    default:
      break;
  }
  return follow_up(subject, task, reply_of(task));
}

std::int64_t Runner::reply_of(const Task& task) const {
  const bool whole = !task.begins && (task.step == Step::decode || task.step == Step::write);
  return whole ? options_.reply_tokens : kFollowUpTokens;
}

Measurement Runner::begin(Subject& subject, const Task& task) {
  std::vector<Message>& talk = subject.talks[task.session];
  talk = make_history(task.depth, options_.message_tokens, seed_of(task, 1), words_);
  const Answer answer = ask(subject, talk, reply_of(task));
  if (answer.ok()) {
    talk.push_back({"assistant", options_.own_replies ? answer.content : kFixedReply});
  }
  Measurement measured = measurement_of(answer);
  const std::int64_t known = measured.reused_tokens.value_or(0);
  if (known <= start_ + kKnown) return measured;
  return failed({ErrorKind::invalid_argument,
                 fmt::format("a new conversation should be cold, but the server knew {} of its "
                             "tokens already",
                             known),
                 "--seed", "give another one, or none"});
}

Measurement Runner::follow_up(Subject& subject, const Task& task, std::int64_t max_tokens) {
  std::vector<Message>& talk = subject.talks[task.session];
  talk.push_back({"user", prose(options_.question_words, seed_of(task, 2))});
  const Answer answer = ask(subject, talk, max_tokens);
  if (answer.ok()) {
    talk.push_back({"assistant", options_.own_replies ? answer.content : kFixedReply});
  } else {
    talk.pop_back();
  }
  return measurement_of(answer);
}

Measurement Runner::write(Subject& subject, const Task& task) {
  const auto before = files_at_rest(*subject.target, options_.write_quiet);
  if (!before) return failed(before.error());
  Measurement measured = follow_up(subject, task, options_.reply_tokens);
  const auto after = files_at_rest(*subject.target, options_.write_quiet);
  if (!after) return failed(after.error());
  std::uint64_t bytes = 0;
  for (const auto& [path, size] : *after) {
    const auto known = before->find(path);
    const std::uint64_t had = known == before->end() ? 0 : known->second;
    if (size > had) bytes += size - had;
  }
  if (measured.measured()) measured.bytes = bytes;
  return measured;
}

// The user's message nearest to the middle of the text gets another text of the same length.
void Runner::change_middle(std::vector<Message>& talk, const Task& task) const {
  std::size_t all = 0;
  for (const Message& message : talk) all += message.content.size();
  std::size_t before = 0;
  Message* middle = nullptr;
  for (Message& message : talk) {
    if (message.role == "user") middle = &message;
    before += message.content.size();
    if (middle != nullptr && before * 2 >= all) break;
  }
  if (middle == nullptr) return;
  const auto words = std::ranges::count(middle->content, ' ') + 1;
  middle->content = prose(words, seed_of(task, 3));
}

Status Runner::ask_aside(Subject& subject, const Task& task) {
  const auto other =
      make_history(options_.side_tokens, options_.side_tokens, seed_of(task, 4), words_);
  const Answer answer = ask(subject, other, kFollowUpTokens);
  if (!answer.ok()) return std::unexpected(*answer.error);
  if (!tools_.wait(options_.pause)) return fail(ErrorKind::cancelled, "stopped");
  return {};
}

Status Runner::start_again(Subject& subject, const Task& task) {
  if (auto status = subject.target->restart(stop()); !status) return status;
  if (task.step == Step::restart_cold) {
    if (auto dropped = subject.target->forget_files(); !dropped) {
      return std::unexpected(dropped.error());
    }
  }
  if (!tools_.wait(options_.pause)) return fail(ErrorKind::cancelled, "stopped");
  return {};
}

// A server that still writes what it was asked before would take cores and disk from the one that
// is asked next.
void Runner::settle() {
  for (Subject& subject : subjects_) {
    if (subject.settled || options_.settle == 0) continue;
    if (subject.target->lacks().stored_bytes.empty()) {
      const auto files = files_at_rest(*subject.target, options_.settle);
      if (!files && files.error().kind != ErrorKind::cancelled) {
        tools_.say(fmt::format("{}: {}; what comes next is measured all the same",
                               subject.target->name(), files.error().message));
      }
    }
    subject.settled = true;
  }
}

Result<std::map<std::string, std::uint64_t>> Runner::files_at_rest(Target& target, Micros quiet) {
  auto files = target.stored_files();
  const Micros deadline = tools_.clock.now() + kRestMost;
  Micros since = tools_.clock.now();
  while (files && tools_.clock.now() - since < quiet) {
    if (!tools_.wait(kLook)) return fail(ErrorKind::cancelled, "stopped");
    if (tools_.clock.now() > deadline) {
      return fail(ErrorKind::unavailable,
                  fmt::format("the store's folder still changed after {} s", kRestMost / kSecond),
                  "--store-dir", "name the folder of the server's store, and use no other client");
    }
    auto now = target.stored_files();
    if (!now || *now != *files) since = tools_.clock.now();
    files = std::move(now);
  }
  return files;
}

}  // namespace samovar::bench
