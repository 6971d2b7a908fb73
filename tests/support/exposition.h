// A strict reader of Prometheus' text format, version 0.0.4, for tests: every sample must belong to
// the family announced just before it, every name and label must be well formed, no series may come
// twice, and buckets must be cumulative. Header only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <expected>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace samovar::test {

struct ExposedFamily {
  std::string help;
  std::string type;
  std::map<std::string, double> samples;  // by "name{label=\"value\"}"
};

class Exposition {
 public:
  static std::expected<Exposition, std::string> parse(const std::string& text) {
    Exposition exposition;
    if (!text.ends_with('\n')) return std::unexpected("the last line does not end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::string problem = exposition.take(line);
      if (!problem.empty()) return std::unexpected(problem + ": " + line);
    }
    for (const auto& [name, family] : exposition.families_) {
      if (family.samples.empty()) return std::unexpected("no sample of " + name);
      if (family.type != "histogram") continue;
      const std::string problem = check_histogram(name, family);
      if (!problem.empty()) return std::unexpected(problem);
    }
    return exposition;
  }

  [[nodiscard]] const std::map<std::string, ExposedFamily>& families() const { return families_; }

  // NaN: there is no such series.
  [[nodiscard]] double value(const std::string& series) const {
    for (const auto& [name, family] : families_) {
      const auto found = family.samples.find(series);
      if (found != family.samples.end()) return found->second;
    }
    return std::nan("");
  }

  // Over all series of a family.
  [[nodiscard]] double sum(const std::string& family) const {
    double total = 0;
    const auto found = families_.find(family);
    if (found == families_.end()) return std::nan("");
    for (const auto& [series, value] : found->second.samples) total += value;
    return total;
  }

 private:
  std::string take(const std::string& line) {
    static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*))");
    static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram))");
    static const std::regex sample(
        R"x(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="[^"\\\n]*",?)+\})? (\S+))x");
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      if (families_.contains(match[1])) return "a family comes twice";
      current_ = match[1];
      families_[current_].help = match[2];
      return {};
    }
    if (std::regex_match(line, match, type)) {
      if (match[1] != current_) return "the type is not that of the family";
      families_[current_].type = match[2];
      return {};
    }
    if (!std::regex_match(line, match, sample)) return "neither sample, help nor type";
    const std::string name = match[1];
    ExposedFamily& family = families_[current_];
    const bool own = family.type == "histogram"
                         ? name == current_ + "_bucket" || name == current_ + "_sum" ||
                               name == current_ + "_count"
                         : name == current_;
    if (!own) return "a sample of another family";
    const std::string number = match[4];
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (end != number.c_str() + number.size()) return "no number";
    const std::string series = name + std::string(match[2]);
    return family.samples.emplace(series, value).second ? std::string() : "a series comes twice";
  }

  static std::string check_histogram(const std::string& name, const ExposedFamily& family) {
    static const std::regex bound(R"x(.*le="([^"]+)".*)x");
    std::vector<std::pair<double, double>> buckets;
    for (const auto& [series, value] : family.samples) {
      std::smatch match;
      if (!std::regex_match(series, match, bound)) continue;
      buckets.emplace_back(std::strtod(match[1].str().c_str(), nullptr), value);
    }
    std::ranges::sort(buckets);
    if (buckets.empty() || !std::isinf(buckets.back().first)) return name + " has no +Inf";
    if (!std::ranges::is_sorted(buckets, {}, &std::pair<double, double>::second)) {
      return name + " is not cumulative";
    }
    const auto count = family.samples.find(name + "_count");
    if (count == family.samples.end() || count->second != buckets.back().second) {
      return name + " has another count than its last bucket";
    }
    return family.samples.contains(name + "_sum") ? std::string() : name + " has no sum";
  }

  std::map<std::string, ExposedFamily> families_;
  std::string current_;
};

}  // namespace samovar::test
