// IncrementalTemplate: a conversation to text, at the cost of what is new in it where an earlier
// one began alike (template_splice.h), else with one run of the template over all of it. Keeps the
// last few conversations with their texts, by everything a text depends on, and compares in full.
//
// Never a wrong text in silence: a template is tried with probe conversations when it is loaded,
// and spliced texts are checked against whole ones, often in the beginning and then from time to
// time. A difference ends splicing for good and is logged. Owned by ConversationRenderer; any
// thread (own lock; templates run outside it). render() throws what the template throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chat/direct_template.h"
#include "chat/template_splice.h"

namespace samovar {

class IncrementalTemplate {
 public:
  explicit IncrementalTemplate(DirectTemplate direct);

  std::string render(const common_chat_templates_inputs& inputs);

  // For rendering as a whole.
  [[nodiscard]] const DirectTemplate& direct() const { return direct_; }

  [[nodiscard]] const SpliceRules& rules() const { return rules_; }
  [[nodiscard]] bool splices() const { return trusted_.load() && rules_.any(); }

  struct Counts {
    std::uint64_t whole = 0;    // renderings of a whole conversation, for want of a better way
    std::uint64_t spliced = 0;  // the others
    std::uint64_t checked = 0;  // of those: rendered as a whole too
  };
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::vector<std::size_t> hashes;  // of each message, to find candidates
    std::shared_ptr<const RenderedConversation> conversation;
    std::size_t bytes = 0;
  };
  struct Match {
    std::shared_ptr<const RenderedConversation> earlier;
    std::size_t shared = 0;
  };

  Match find(const std::string& key, const std::vector<std::size_t>& hashes, ChatMessages messages);
  std::optional<RenderedConversation> render_spliced(const Match& match,
                                                     const common_chat_templates_inputs& inputs);
  bool check_due();
  void distrust();
  void remember(Entry entry, const Match& match);
  void forget(std::list<Entry>::iterator entry);  // mutex_ held

  const DirectTemplate direct_;
  const SpliceRules rules_;
  std::atomic<bool> trusted_ = true;

  mutable std::mutex mutex_;  // guards all below
  std::list<Entry> entries_;  // most recently used first
  std::size_t bytes_ = 0;
  Counts counts_;
};

}  // namespace samovar
