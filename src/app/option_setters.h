// How an option's text becomes a value: each setter checks what it is given, stores it, and returns
// what is wrong with it ("" if nothing). The targets must outlive the setters. Pure but for the
// target.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/neutralise.h"

namespace samovar::app {

using Setter = std::function<std::string(const std::string&)>;

Setter text(std::string& target);
Setter list(std::vector<std::string>& target);  // adds to it
Setter flag(bool& target);                      // "true" or anything else
Setter integer(int& target, int low, int high);
Setter integer_or_auto(int& target, int low, int high);  // "auto" and "all" stand for `low`
Setter real(double& target, double low, double high);
Setter size(std::optional<std::uint64_t>& target);  // as parse_size()
Setter seed(std::optional<std::uint32_t>& target);  // -1: none
Setter rule_set(RuleSet& target);                   // as RuleSet::parse()
Setter one_of(std::string& target, std::vector<std::string> words);

}  // namespace samovar::app
