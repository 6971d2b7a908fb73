#include "explain/loss.h"

#include <algorithm>
#include <cmath>

#include "explain/text_change.h"

namespace samovar {
namespace {

class Measurement {
 public:
  Measurement(const Comparison& comparison, const Departure& departure)
      : comparison_(comparison),
        before_(comparison.before),
        after_(comparison.after),
        departure_(departure) {
    loss_.changed = first_changed_message();
    loss_.alignment = align(before_, after_, loss_.changed);
  }

  Loss run() {
    loss_.at = std::clamp(departure_.at, 0, after_.prompt_tokens);
    const Position reused = comparison_.figures.reused.value_or(loss_.at);
    if (!departure_.exact) loss_.at = std::max(loss_.at, std::min(reused, after_.prompt_tokens));
    loss_.before = std::max(0, loss_.at - reused);
    const Position beyond = std::max(0, reused - loss_.at);  // reused from somewhere else
    loss_.after = std::max(0, shared_after_departure() - beyond);
    return std::move(loss_);
  }

 private:
  std::size_t first_changed_message() const {
    for (const Difference& difference : comparison_.differences) {
      if (difference.part == Part::message && !difference.weak) return difference.index;
    }
    return before_.messages.size() + (message_at(before_, before_.messages.size()) ? 1 : 0);
  }

  Position size_of(std::size_t message) const {
    return comparison_.positions[message + 1] - comparison_.positions[message];
  }

  // How much of what follows the difference in its own message had been computed before.
  double shared_fraction() const {
    const Difference* difference = departure_.blamed;
    if (difference == nullptr || difference->part != Part::message ||
        difference->index != departure_.message) {
      return departure_.message < loss_.alignment.shared.size() &&
                     (loss_.alignment.shared[departure_.message] ||
                      departure_.message != loss_.changed)
                 ? 1.0
                 : 0.0;
    }
    if (difference->field == "role") return 0.0;
    if (difference->field == "reasoning") {  // what follows it is the rest of the message
      return loss_.alignment.shared[departure_.message] ? 1.0 : 0.0;
    }
    if (difference->before && difference->after) {
      const std::size_t prefix = common_prefix(*difference->before, *difference->after);
      const std::size_t rest = difference->after->size() - prefix;
      if (rest == 0) return 1.0;
      return static_cast<double>(common_suffix(*difference->before, *difference->after, prefix)) /
             static_cast<double>(rest);
    }
    const MessageShape* old_message = message_at(before_, difference->index);
    const double a = old_message == nullptr ? 0.0 : static_cast<double>(old_message->bytes());
    const double b = static_cast<double>(after_.messages[difference->index].bytes());
    return std::abs(a - b) <= 0.2 * std::max(a, b) ? 1.0 : 0.0;  // most of it, in all likelihood
  }

  // Tokens of a tool that is new or says something new: nobody had computed them.
  double fresh_in_tools() const {
    const Difference* difference = departure_.blamed;
    const bool fresh = difference != nullptr && !difference->dropped && !difference->respelled &&
                       (difference->part == Part::tool || difference->part == Part::tools);
    if (!fresh || difference->index >= after_.tools.size()) return 0.0;
    const ToolShape& tool = after_.tools[difference->index];
    const double bytes = static_cast<double>(tool.name.size()) + tool.description.bytes +
                         static_cast<double>(tool.parameters.bytes);
    return bytes / 4.0;
  }

  Position shared_after_departure() const {
    if (!departure_.broken || after_.messages.empty()) return 0;
    const std::size_t at = std::min(departure_.message, after_.messages.size() - 1);
    const Position rest = std::max<Position>(0, comparison_.positions[at + 1] - loss_.at);
    double sum = shared_fraction() * std::max(0.0, static_cast<double>(rest) - fresh_in_tools());
    for (std::size_t i = at + 1; i < after_.messages.size(); ++i) {
      if (loss_.alignment.shared[i]) sum += static_cast<double>(size_of(i));
    }
    return std::min(static_cast<Position>(sum), after_.prompt_tokens - loss_.at);
  }

  const Comparison& comparison_;
  const TurnShape& before_;
  const TurnShape& after_;
  const Departure& departure_;
  Loss loss_;
};

}  // namespace

Loss measure_loss(const Comparison& comparison, const Departure& departure) {
  return Measurement(comparison, departure).run();
}

}  // namespace samovar
