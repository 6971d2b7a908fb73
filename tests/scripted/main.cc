// samovar-scripted: `samovar serve` with a model that says what a script wants. For tests of what a
// client makes of a reply; no part of the product.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "app/serve.h"
#include "tests/scripted/scripted_engine.h"

int main(int count, char** words) {
  using samovar::testing::Script;
  if (count < 2) {
    fmt::print(stderr, "usage: samovar-scripted SCRIPT.json [options of samovar serve]\n");
    return samovar::app::kExitUsage;
  }
  auto script = Script::read(words[1]);
  if (!script) {
    fmt::print(stderr, "samovar-scripted: {}\n", script.error().describe());
    return samovar::app::kExitUsage;
  }
  return samovar::app::serve(
      std::vector<std::string>(words + 2, words + count),
      [&script](samovar::LlamaEngine& engine) -> std::unique_ptr<samovar::Engine> {
        return std::make_unique<samovar::testing::ScriptedEngine>(engine, *script);
      });
}
