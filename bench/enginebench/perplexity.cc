// How well the model expects a text, for comparing types of K/V: exp of the mean negative log
// likelihood of each token after the first. Tokens are decoded one by one, so that each is expected
// from what the cache really holds. A file holds one text, or several with form feeds between them;
// every text begins in an empty sequence.
#include <llama.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string_view>

#include "modes.h"

namespace samovar::bench {
namespace {

std::vector<std::string> read_texts(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (path.empty() || !in) {
    fmt::print(stderr, "{}: name a text with --text\n",
               path.empty() ? "mode perplexity needs a text" : "cannot read " + path);
    std::exit(1);
  }
  std::vector<std::string> texts(1);
  for (std::istreambuf_iterator<char> at(in), end; at != end; ++at) {
    if (*at == '\f') {
      texts.emplace_back();
    } else {
      texts.back() += *at;
    }
  }
  return texts;
}

Tokens tokens_of(const LlamaEngine& engine, std::string_view text) {
  const llama_vocab* vocab = llama_model_get_vocab(engine.raw_model());
  Tokens tokens(text.size() + 2);
  const int count =
      llama_tokenize(vocab, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                     static_cast<std::int32_t>(tokens.size()), true, true);
  if (count < 2) {
    fmt::print(stderr, "a text of --text has {} tokens: at least two are needed\n", count);
    std::exit(1);
  }
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

double surprise(std::span<const float> logits, Token token) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return std::log(sum) + most - static_cast<double>(logits[static_cast<std::size_t>(token)]);
}

struct Surprises {
  double sum = 0.0;
  std::size_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double perplexity() const { return std::exp(sum / static_cast<double>(count)); }
};

}  // namespace

void run_perplexity(const BenchOptions& options) {
  const std::vector<std::string> texts = read_texts(options.text);
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  const auto engine =
      take_or_exit(LlamaEngine::open(engine_options(options, static_cast<Position>(longest) + 64)));
  Surprises all;
  Surprises late;  // in the last quarter of each text
  for (const std::string& text : texts) {
    const Tokens tokens = tokens_of(*engine, text);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      must(engine->prefill(0, static_cast<Position>(i), TokenSpan(&tokens[i], 1), true), "decode");
      const double value = surprise(engine->logits(0), tokens[i + 1]);
      all.add(value);
      if (4 * i >= 3 * tokens.size()) late.add(value);
    }
    engine->drop(0);
  }
  fmt::print("  perplexity of {} tokens in {} texts: {:.4f}; of the last quarters: {:.4f}\n",
             all.count, texts.size(), all.perplexity(), late.perplexity());
}

}  // namespace samovar::bench
