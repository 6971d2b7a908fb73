#include "chat/incremental_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "chat/template_inputs.h"
#include "chat/template_source.h"

namespace samovar {
namespace {

constexpr std::size_t kEntriesMax = 32;
constexpr std::size_t kBytesMax = std::size_t{64} << 20;  // about 60 conversations of 100k tokens
constexpr std::uint64_t kCheckEvery = 64;

// Everything a text depends on but the messages. The date, because templates may print it.
std::string key_of(const common_chat_templates_inputs& inputs, const std::string& date) {
  std::string key =
      fmt::format("{} {} {}", date, inputs.enable_thinking, inputs.add_generation_prompt);
  append_key(key, inputs);
  return key;
}

std::vector<std::size_t> hashes_of(ChatMessages messages) {
  std::vector<std::size_t> hashes;
  hashes.reserve(messages.size());
  for (const common_chat_msg& message : messages) {
    std::size_t hash = 0;
    const auto add = [&hash](std::string_view text) {
      hash = std::rotl(hash, 7) * 31 + std::hash<std::string_view>()(text);
    };
    for (const auto* text : {&message.role, &message.content, &message.reasoning_content,
                             &message.tool_name, &message.tool_call_id}) {
      add(*text);
    }
    for (const common_chat_tool_call& call : message.tool_calls) add(call.arguments);
    hashes.push_back(hash);
  }
  return hashes;
}

std::size_t bytes_of(const RenderedConversation& conversation) {
  std::size_t bytes = conversation.text.size();
  for (const common_chat_msg& message : conversation.messages) {
    bytes += sizeof message + message.content.size() + message.reasoning_content.size();
    for (const common_chat_tool_call& call : message.tool_calls) {
      bytes += sizeof call + call.arguments.size();
    }
  }
  return bytes;
}

}  // namespace

IncrementalTemplate::IncrementalTemplate(DirectTemplate direct)
    : direct_(std::move(direct)), rules_(find_splice_rules(direct_)) {}

std::string IncrementalTemplate::render(const common_chat_templates_inputs& inputs) {
  if (!splices()) return direct_.render(inputs);
  const std::string date = local_date();
  Entry entry{key_of(inputs, date), hashes_of(inputs.messages), nullptr};
  const Match match = find(entry.key, entry.hashes, inputs.messages);
  auto rendered = match.earlier == nullptr ? std::nullopt : render_spliced(match, inputs);
  if (!rendered) {
    rendered.emplace();
    rendered->text = direct_.render(inputs);
    const std::lock_guard lock(mutex_);
    ++counts_.whole;
  }
  // The date may have changed between the parts.
  if (date != local_date()) return direct_.render(inputs);
  std::string text = rendered->text;
  rendered->messages = inputs.messages;
  entry.conversation = std::make_shared<const RenderedConversation>(std::move(*rendered));
  remember(std::move(entry), match);
  return text;
}

// The conversation that shares most messages with `messages`.
IncrementalTemplate::Match IncrementalTemplate::find(const std::string& key,
                                                     const std::vector<std::size_t>& hashes,
                                                     ChatMessages messages) {
  Match match;
  {
    const std::lock_guard lock(mutex_);
    auto best = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->key != key) continue;
      const auto same = static_cast<std::size_t>(std::ranges::mismatch(entry->hashes, hashes).in1 -
                                                 entry->hashes.begin());
      if (same <= match.shared) continue;
      match.shared = same;
      best = entry;
    }
    if (best == entries_.end()) return {};
    entries_.splice(entries_.begin(), entries_, best);
    match.earlier = best->conversation;
  }
  const ChatMessages old = match.earlier->messages;
  const auto differ = std::ranges::mismatch(old.first(match.shared), messages.first(match.shared));
  match.shared = static_cast<std::size_t>(differ.in1 - old.begin());
  return match;
}

// nullopt: to be rendered as a whole.
std::optional<RenderedConversation> IncrementalTemplate::render_spliced(
    const Match& match, const common_chat_templates_inputs& inputs) {
  const auto& earlier = *match.earlier;
  const auto cut = find_cut(earlier.messages, inputs.messages, match.shared, rules_);
  if (!cut) return std::nullopt;
  if (splice_cost(earlier, inputs.messages, *cut) >= inputs.messages.size()) return std::nullopt;
  std::optional<RenderedConversation> result;
  try {
    result = splice(direct_, earlier, inputs, *cut);
  } catch (const std::exception&) {
    return std::nullopt;  // the whole conversation shows what is wrong, if anything
  }
  if (!result || !check_due()) return result;
  std::string whole;
  try {
    whole = direct_.render(inputs);
  } catch (const std::exception&) {
    distrust();
    throw;
  }
  if (whole == result->text) return result;
  distrust();
  result->text = std::move(whole);
  result->boundaries.clear();
  return result;
}

void IncrementalTemplate::distrust() {
  if (!trusted_.exchange(false)) return;
  log_warning(
      "rendering a conversation by its new messages gave another text than rendering all of it; "
      "from here on, whole conversations are rendered. The chat template looks ahead in a way that "
      "Samovar does not know: please report its name");
}

// For the 1st, 2nd, 4th, ... and every 64th spliced text.
bool IncrementalTemplate::check_due() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++counts_.spliced;
  const bool due = number < kCheckEvery ? std::has_single_bit(number) : number % kCheckEvery == 0;
  if (due) ++counts_.checked;
  return due;
}

// Replaces the conversation that it continues, if it has all of that one's messages.
void IncrementalTemplate::remember(Entry entry, const Match& match) {
  entry.bytes = bytes_of(*entry.conversation) + entry.key.size();
  if (entry.bytes > kBytesMax / 4) return;
  const std::lock_guard lock(mutex_);
  if (match.earlier != nullptr && match.shared == match.earlier->messages.size()) {
    const auto continued = std::ranges::find(entries_, match.earlier, &Entry::conversation);
    if (continued != entries_.end()) forget(continued);
  }
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > kBytesMax || entries_.size() > kEntriesMax) {
    forget(std::prev(entries_.end()));
  }
}

void IncrementalTemplate::forget(std::list<Entry>::iterator entry) {
  bytes_ -= entry->bytes;
  entries_.erase(entry);
}

IncrementalTemplate::Counts IncrementalTemplate::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::size_t IncrementalTemplate::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace samovar
