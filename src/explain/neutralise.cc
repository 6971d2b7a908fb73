#include "explain/neutralise.h"

#include <algorithm>
#include <array>

namespace samovar {
namespace {

// Claude Code begins its system prompt with a stamp for its maker's billing:
//
//   x-anthropic-billing-header: cc_version=2.1.101.e51; cc_entrypoint=cli; cch=a5145;
//
// `cch` and the fourth part of `cc_version` are computed from the request and change with it.
// Further fields (cc_workload) may follow. Clients that join the parts of a system prompt without a
// line end put the next sentence right behind the last ";".
constexpr std::string_view kBillingStart = "x-anthropic-billing-header:";

struct Field {
  std::string_view name;
  std::size_t begin = 0;  // of the value, in the text
  std::size_t end = 0;
};

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

bool is_value_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_' || c == '+';
}

// Reads " name=value;" at `at` and moves behind it; false leaves `at` alone.
bool read_field(std::string_view text, std::size_t& at, Field& field) {
  std::size_t i = at;
  while (i < text.size() && text[i] == ' ') ++i;
  const std::size_t name = i;
  while (i < text.size() && is_name_character(text[i])) ++i;
  if (i == name || i == text.size() || text[i] != '=') return false;
  field.name = text.substr(name, i - name);
  field.begin = ++i;
  while (i < text.size() && is_value_character(text[i])) ++i;
  field.end = i;
  if (i == text.size() || text[i] != ';') return false;
  at = i + 1;
  return true;
}

bool is_lower_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Where the changing part of a version begins: "2.1.101.e51" -> 8. npos: it has none.
std::size_t version_stamp(std::string_view version) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (version[i] == '.' && ++dots == 3) {
      const std::string_view stamp = version.substr(i + 1);
      return is_lower_hex(stamp) && stamp.size() == 3 ? i + 1 : std::string_view::npos;
    }
    if (version[i] != '.' && (version[i] < '0' || version[i] > '9')) break;
  }
  return std::string_view::npos;
}

int zero(std::string& text, std::size_t begin, std::size_t end) {
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = text.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::all_of(first, last, [](char c) { return c == '0'; })) return 0;
  std::fill(first, last, '0');
  return 1;
}

// Values replaced in one text.
int fix_billing_line(std::string& text) {
  if (!text.starts_with(kBillingStart)) return 0;
  std::size_t at = kBillingStart.size();
  std::vector<Field> fields;
  Field field;
  while (read_field(text, at, field)) fields.push_back(field);
  const auto named = [&](std::string_view name) {
    return std::count_if(fields.begin(), fields.end(),
                         [&](const Field& one) { return one.name == name; });
  };
  const bool known = !fields.empty() && fields.front().name == "cc_version" &&
                     named("cc_version") == 1 && named("cc_entrypoint") == 1 && named("cch") <= 1;
  if (!known) return 0;
  int replaced = 0;
  for (const Field& one : fields) {
    const std::string_view value = std::string_view(text).substr(one.begin, one.end - one.begin);
    if (one.name == "cch" && value.size() == 5 && is_lower_hex(value)) {
      replaced += zero(text, one.begin, one.end);
    } else if (one.name == "cc_version") {
      const std::size_t stamp = version_stamp(value);
      if (stamp != std::string_view::npos) replaced += zero(text, one.begin + stamp, one.end);
    }
  }
  return replaced;
}

// Only the system messages that a conversation begins with.
void neutralise_billing(ChatRequest& request, AppliedRule& applied) {
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    ChatMessage& message = request.messages[i];
    if (message.role != Role::system) return;
    const int replaced = fix_billing_line(message.content);
    if (replaced == 0) continue;
    if (applied.times == 0) applied.message = i;
    applied.field = "content";
    applied.times += replaced;
  }
}

struct Rule {
  VolatileRule about;
  void (*apply)(ChatRequest&, AppliedRule&) = nullptr;
};

constexpr std::array<Rule, 1> kRules = {{
    {{"claude-code-billing",
      "the changing values of the x-anthropic-billing-header line with which Claude Code begins "
      "its system prompt become zeros",
      true},
     neutralise_billing},
}};

std::string_view trimmed(std::string_view word) {
  while (word.starts_with(' ')) word.remove_prefix(1);
  while (word.ends_with(' ')) word.remove_suffix(1);
  return word;
}

std::string known_names() {
  std::string names;
  for (const Rule& rule : kRules) names += std::string(rule.about.name) + ", ";
  return names + "default, all or none";
}

}  // namespace

std::span<const VolatileRule> volatile_rules() {
  static const std::vector<VolatileRule> rules = [] {
    std::vector<VolatileRule> list;
    list.reserve(kRules.size());
    for (const Rule& rule : kRules) list.push_back(rule.about);
    return list;
  }();
  return rules;
}

RuleSet RuleSet::defaults() {
  RuleSet set;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].about.by_default) set.bits_ |= 1U << i;
  }
  return set;
}

RuleSet RuleSet::all() {
  RuleSet set;
  set.bits_ = (1U << kRules.size()) - 1;
  return set;
}

Result<RuleSet> RuleSet::parse(std::string_view list) {
  const std::string_view whole = trimmed(list);
  if (whole == "all") return all();
  if (whole == "none") return RuleSet();
  RuleSet set;
  for (std::size_t at = 0; at <= whole.size();) {
    const std::size_t comma = std::min(whole.find(',', at), whole.size());
    const std::string_view name = trimmed(whole.substr(at, comma - at));
    at = comma + 1;
    if (name == "default") {
      set.bits_ |= defaults().bits_;
      continue;
    }
    const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                   [&](const Rule& one) { return one.about.name == name; });
    if (name == "all" || name == "none") {
      return fail(ErrorKind::invalid_argument, "'" + std::string(name) + "' stands alone",
                  "--neutralise", "known are " + known_names());
    }
    if (rule == kRules.end()) {
      return fail(ErrorKind::invalid_argument,
                  "there is no volatile rule '" + std::string(name) + "'", "--neutralise",
                  "known are " + known_names());
    }
    set.bits_ |= 1U << (rule - kRules.begin());
  }
  return set;
}

bool RuleSet::has(std::string_view name) const {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].about.name == name) return (bits_ & (1U << i)) != 0;
  }
  return false;
}

std::string RuleSet::list() const {
  std::string names;
  for (const Rule& rule : kRules) {
    if (has(rule.about.name)) names += (names.empty() ? "" : ",") + std::string(rule.about.name);
  }
  return names.empty() ? "none" : names;
}

std::vector<AppliedRule> neutralise(ChatRequest& request, const RuleSet& rules) {
  std::vector<AppliedRule> result;
  for (const Rule& rule : kRules) {
    if (!rules.has(rule.about.name)) continue;
    AppliedRule applied;
    applied.name = rule.about.name;
    rule.apply(request, applied);
    if (applied.times > 0) result.push_back(std::move(applied));
  }
  return result;
}

std::string describe(std::span<const AppliedRule> applied) {
  std::string text;
  for (const AppliedRule& rule : applied) {
    text += (text.empty() ? "" : ",") + rule.name + "=" + std::to_string(rule.times);
  }
  return text;
}

}  // namespace samovar
