#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/chat_request_parts.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kTemperatureMax = 10.0;  // OpenAI allows 2; local samplers are used beyond it
constexpr double kPenaltyMax = 2.0;       // OpenAI's range
constexpr double kRepeatPenaltyMax = 10.0;
constexpr double kBiasMax = 100.0;  // OpenAI's range
constexpr int kRepeatWindowMax = 1 << 20;

template <class Target, class Value>
void assign(Target& target, const std::optional<Value>& value) {
  if (value) target = static_cast<Target>(*value);
}

// A seed may be any integer: OpenAI's are 64 bits wide, the sampler's 32. -1, and its 32-bit twin,
// are llama-server's "random".
void read_seed(const JsonObject& body, SamplingParams& sampling) {
  const auto seed = body.integer("seed", std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max());
  if (!seed) return;
  constexpr std::uint32_t kRandom = std::numeric_limits<std::uint32_t>::max();
  if (*seed == -1 || *seed == kRandom) {
    sampling.seed = std::nullopt;
    return;
  }
  const auto bits = static_cast<std::uint64_t>(*seed);
  const auto folded = static_cast<std::uint32_t>(bits ^ (bits >> 32));
  sampling.seed = folded == kRandom ? 0 : folded;
}

void read_logprobs(const JsonObject& body, SamplingParams& sampling) {
  const bool wanted = body.boolean("logprobs").value_or(false);
  const auto top = body.integer("top_logprobs", 0, limits::top_logprobs_max);
  if (wanted) {
    sampling.top_logprobs = static_cast<int>(top.value_or(0));
  } else if (top.value_or(0) > 0) {
    body.problem().report("'top_logprobs' needs 'logprobs'", "top_logprobs",
                          "send \"logprobs\": true with it");
  }
}

class BiasReader {
 public:
  BiasReader(Problem& problem, int vocab_size, SamplingParams& sampling)
      : problem_(problem), vocab_size_(vocab_size), sampling_(sampling) {}

  // {"1234": -100}
  void read_object(const Json& object) {
    for (const auto& [key, bias] : object.items()) {
      const std::string path = fmt::format("logit_bias.{}", key);
      std::int64_t token = -1;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
      const bool whole = error == std::errc() && end == key.data() + key.size();
      add(whole ? token : -1, bias, path);
    }
  }

  // [[1234, -100], [99, false]]
  void read_array(const Json& array) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      const std::string path = fmt::format("logit_bias[{}]", i);
      const Json& pair = array[i];
      if (!pair.is_array() || pair.size() != 2) {
        problem_.report(fmt::format("'{}' must be a pair [token id, bias]", path), path);
        return;
      }
      add(pair[0].is_number_integer() ? pair[0].get<std::int64_t>() : -1, pair[1], path);
    }
  }

 private:
  void add(std::int64_t token, const Json& bias, const std::string& path) {
    const std::int64_t end =
        vocab_size_ > 0 ? vocab_size_ : std::int64_t{std::numeric_limits<Token>::max()};
    if (token < 0 || token >= end) {
      problem_.report(fmt::format("'{}' does not name a token of this model", path), path,
                      fmt::format("use token ids from 0 to {}", end - 1));
      return;
    }
    if (bias.is_boolean() && !bias.get<bool>()) {
      sampling_.logit_bias.emplace_back(static_cast<Token>(token),
                                        -std::numeric_limits<float>::infinity());
      return;
    }
    const double value = bias.is_number() ? bias.get<double>() : kBiasMax + 1;
    if (value < -kBiasMax || value > kBiasMax) {
      problem_.report(fmt::format("'{}' must be a number from -100 to 100", path), path);
      return;
    }
    sampling_.logit_bias.emplace_back(static_cast<Token>(token), static_cast<float>(value));
  }

  Problem& problem_;
  const int vocab_size_;
  SamplingParams& sampling_;
};

void read_logit_bias(const JsonObject& body, int vocab_size, SamplingParams& sampling) {
  const Json* bias = body.find("logit_bias");
  if (bias == nullptr) return;
  if (!bias->is_object() && !bias->is_array()) {
    body.problem().report(
        fmt::format("'logit_bias' must be an object, not {}", json_type_name(*bias)), "logit_bias",
        R"(send {"token id": bias, ...})");
    return;
  }
  if (bias->size() > limits::logit_bias_max) {
    body.problem().report(fmt::format("'logit_bias' has {} entries, more than the {} allowed",
                                      bias->size(), limits::logit_bias_max),
                          "logit_bias", fmt::format("send at most {}", limits::logit_bias_max));
    return;
  }
  sampling.logit_bias.clear();
  BiasReader reader(body.problem(), vocab_size, sampling);
  if (bias->is_object()) {
    reader.read_object(*bias);
  } else {
    reader.read_array(*bias);
  }
}

void add_stop(const Json& value, const std::string& path, Problem& problem,
              std::vector<std::string>& stop) {
  if (!value.is_string()) {
    problem.report(fmt::format("'{}' must be a string, not {}", path, json_type_name(value)), path);
    return;
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) {
    problem.report(fmt::format("'{}' is empty", path), path, "leave empty stop strings out");
  } else if (text.size() > limits::stop_string_bytes_max) {
    problem.report(fmt::format("'{}' has {} bytes, more than the {} allowed", path, text.size(),
                               limits::stop_string_bytes_max),
                   path, "use a shorter stop string");
  }
  stop.push_back(text);
}

}  // namespace

void read_samplers(const JsonObject& body, int vocab_size, SamplingParams& sampling) {
  assign(sampling.temperature, body.number("temperature", 0, kTemperatureMax));
  assign(sampling.top_p, body.number("top_p", 0, 1));
  assign(sampling.min_p, body.number("min_p", 0, 1));
  if (const auto top_k = body.integer("top_k", -1, std::numeric_limits<int>::max())) {
    sampling.top_k = static_cast<int>(std::max<std::int64_t>(*top_k, 0));  // -1: off, as elsewhere
  }
  assign(sampling.presence_penalty, body.number("presence_penalty", -kPenaltyMax, kPenaltyMax));
  assign(sampling.frequency_penalty, body.number("frequency_penalty", -kPenaltyMax, kPenaltyMax));
  for (const char* name : {"repetition_penalty", "repeat_penalty"}) {
    assign(sampling.repeat_penalty, body.number(name, 0.01, kRepeatPenaltyMax));
  }
  assign(sampling.repeat_last_n, body.integer("repeat_last_n", 0, kRepeatWindowMax));
  assign(sampling.ignore_eos, body.boolean("ignore_eos"));
  // llama-server's two names, and Qwen's; -1: no limit.
  for (const char* name :
       {"thinking_budget", "reasoning_budget_tokens", "thinking_budget_tokens"}) {
    const auto budget = body.integer(name, -1, std::numeric_limits<std::int32_t>::max());
    if (!budget) continue;
    sampling.thinking_budget =
        *budget < 0 ? std::nullopt : std::optional(static_cast<int>(*budget));
  }
  read_seed(body, sampling);
  read_logit_bias(body, vocab_size, sampling);
}

void read_sampling(const JsonObject& body, int vocab_size, SamplingParams& sampling) {
  read_samplers(body, vocab_size, sampling);
  read_logprobs(body, sampling);
}

void read_stop(const JsonObject& body, std::vector<std::string>& stop, const std::string& name) {
  const Json* value = body.find(name);
  if (value == nullptr) return;
  if (!value->is_array()) {
    if (!value->is_string()) {
      body.problem().report(fmt::format("'{}' must be a string or an array of strings, not {}",
                                        name, json_type_name(*value)),
                            name);
      return;
    }
    add_stop(*value, name, body.problem(), stop);
    return;
  }
  const Json* list = body.array(name, limits::stop_strings_max);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    add_stop((*list)[i], fmt::format("{}[{}]", name, i), body.problem(), stop);
  }
}

}  // namespace samovar
