#include "app/option_setters.h"

#include <charconv>
#include <limits>

#include "app/options.h"

namespace samovar::app {

namespace {

// Reads all of `text` as a number; false if anything is left over.
template <class T>
bool read_number(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

Setter text(std::string& target) {
  return [&target](const std::string& value) {
    target = value;
    return std::string();
  };
}

Setter list(std::vector<std::string>& target) {
  return [&target](const std::string& value) {
    if (value.empty()) return std::string("must not be empty");
    target.push_back(value);
    return std::string();
  };
}

Setter flag(bool& target) {
  return [&target](const std::string& value) {
    target = value == "true";
    return std::string();
  };
}

Setter integer(int& target, int low, int high) {
  return [&target, low, high](const std::string& value) {
    int number = 0;
    if (!read_number(value, number) || number < low || number > high) {
      return "must be a whole number between " + std::to_string(low) + " and " +
             std::to_string(high) + ", not '" + value + "'";
    }
    target = number;
    return std::string();
  };
}

Setter integer_or_auto(int& target, int low, int high) {
  return [inner = integer(target, low, high), low](const std::string& value) {
    return inner(value == "auto" || value == "all" ? std::to_string(low) : value);
  };
}

Setter real(double& target, double low, double high) {
  return [&target, low, high](const std::string& value) {
    double number = 0;
    if (!read_number(value, number) || !(number >= low) || !(number <= high)) {
      std::string range = std::to_string(low);
      range += " and " + std::to_string(high);
      return "must be a number between " + range + ", not '" + value + "'";
    }
    target = number;
    return std::string();
  };
}

Setter size(std::optional<std::uint64_t>& target) {
  return [&target](const std::string& value) {
    const auto bytes = parse_size(value);
    if (!bytes) return "must be a size such as 512M, 4G or 1.5GiB, not '" + value + "'";
    target = bytes;
    return std::string();
  };
}

Setter seed(std::optional<std::uint32_t>& target) {
  return [&target](const std::string& value) {
    std::int64_t number = 0;
    if (!read_number(value, number) || number < -1 ||
        number > std::numeric_limits<std::uint32_t>::max()) {
      return "must be a whole number between 0 and 4294967295, or -1 for a random one, not '" +
             value + "'";
    }
    target.reset();
    if (number >= 0) target = static_cast<std::uint32_t>(number);
    return std::string();
  };
}

Setter rule_set(RuleSet& target) {
  return [&target](const std::string& value) {
    const auto rules = RuleSet::parse(value);
    if (!rules) return rules.error().message + "; " + rules.error().remedy;
    target = *rules;
    return std::string();
  };
}

Setter one_of(std::string& target, std::vector<std::string> words) {
  return [&target, words = std::move(words)](const std::string& value) {
    std::string known;
    for (const std::string& word : words) {
      if (word == value) {
        target = value;
        return std::string();
      }
      known += (known.empty() ? "" : ", ") + word;
    }
    return "must be one of " + known + ", not '" + value + "'";
  };
}

}  // namespace samovar::app
