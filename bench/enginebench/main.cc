// samovar-enginebench: what the server costs over bare libllama, and what the engine's operations
// cost, on the machine it runs on. `samovar-enginebench -m model.gguf [--mode
// speed|beside|drift|snapshots|recording|perplexity] ...`
#include <fmt/core.h>
#include <llama.h>

#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "engine/llama_model.h"
#include "measure.h"
#include "modes.h"

namespace samovar::bench {
namespace {

constexpr const char* kUsage =
    "usage: samovar-enginebench -m MODEL [options]\n"
    "  --mode speed      cold prefill and decode, bare libllama against samovar (default)\n"
    "         beside     decode of a 1,000-token conversation alone and beside idle ones\n"
    "         drift      logits of a conversation decoded alone and with 7 others\n"
    "         snapshots  cost of snapshot, rewind and fork\n"
    "         recording  decode with and without metrics and turn recording (--reply 128 or more)\n"
    "         perplexity how well the model expects --text, with these types of K/V\n"
    "  --text FILE       for mode perplexity: texts with form feeds between them\n"
    "  --prompt N        prompt tokens (6000)\n"
    "  --reply N         reply tokens (128)\n"
    "  --resident N      idle tokens in mode beside (60000)\n"
    "  --rounds N        measured rounds (5), after one that is not counted\n"
    "  --sequences N     resident conversations (4)\n"
    "  -t N, -ub N, -ngl N, -ctk TYPE, -ctv TYPE   as for the server\n";

std::map<std::string_view, std::function<void(const char*)>> flags(BenchOptions& options) {
  const auto number = [](int& target) {
    return [&target](const char* text) { target = std::atoi(text); };
  };
  const auto text = [](std::string& target) {
    return [&target](const char* value) { target = value; };
  };
  return {{"-m", text(options.model)},          {"--mode", text(options.mode)},
          {"--text", text(options.text)},       {"--prompt", number(options.prompt)},
          {"--reply", number(options.reply)},   {"--resident", number(options.resident)},
          {"--rounds", number(options.rounds)}, {"--sequences", number(options.sequences)},
          {"-t", number(options.threads)},      {"-ub", number(options.ubatch)},
          {"-ngl", number(options.gpu_layers)}, {"-ctk", text(options.type_k)},
          {"-ctv", text(options.type_v)}};
}

bool parse(int argc, char** argv, BenchOptions& options) {
  const auto known = flags(options);
  for (int i = 1; i < argc; i += 2) {
    const auto flag = known.find(argv[i]);
    if (flag == known.end() || i + 1 >= argc) {
      return false;
    }
    flag->second(argv[i + 1]);
  }
  return !options.model.empty() && options.prompt > 0 && options.reply > 1 && options.rounds > 0 &&
         options.sequences > 1;
}

void print_machine(const BenchOptions& options) {
  fmt::print("mode {}: {}\n", options.mode, options.model);
  fmt::print("  prompt {} reply {} ubatch {} threads {} K/V {}/{} gpu layers {}\n", options.prompt,
             options.reply, options.ubatch,
             options.threads > 0 ? options.threads : default_threads(), options.type_k,
             options.type_v, options.gpu_layers);
  fmt::print("  {} hardware threads; {}\n", std::thread::hardware_concurrency(),
             llama_print_system_info());
}

int run(int argc, char** argv) {
  BenchOptions options;
  const std::map<std::string_view, void (*)(const BenchOptions&)> modes = {
      {"speed", run_speed},         {"beside", run_beside},       {"drift", run_drift},
      {"snapshots", run_snapshots}, {"recording", run_recording}, {"perplexity", run_perplexity}};
  if (!parse(argc, argv, options) || !modes.contains(options.mode)) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  if (const Status status = load_backends(""); !status) {
    fmt::print(stderr, "{}\n", status.error().describe());
    return 1;
  }
  print_machine(options);
  modes.at(options.mode)(options);
  return 0;
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) { return samovar::bench::run(argc, argv); }
