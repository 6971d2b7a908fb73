#include "app/foreign_flags.h"

#include <algorithm>

namespace samovar::app {

namespace {

using Value = ForeignFlag::Value;

const std::vector<ForeignFlag>& foreign_flags() {
  static const std::vector<ForeignFlag> table = {
      {{"--jinja"}, Value::none, "templates are always jinja", ""},
      {{"-fa", "--flash-attn"},
       Value::optional,
       "flash attention is always on",
       "Flash attention cannot be switched off here: saved states depend on it. Leave the flag out",
       "off"},
      {{"-cb", "--cont-batching"}, Value::none, "continuous batching is always on", ""},
      {{"-kvu", "--kv-unified"}, Value::none, "the cells are always shared", ""},
      {{"--cache-prompt"}, Value::none, "what is resident is always reused", ""},
      {{"--cache-idle-slots"},
       Value::none,
       "idle conversations always stay while there is room",
       ""},
      {{"--no-context-shift"}, Value::none, "a context is never shifted", ""},
      {{"--no-webui", "--no-ui"}, Value::none, "there is no such page", ""},
      {{"-sps", "--slot-prompt-similarity"},
       Value::required,
       "conversations are matched by their exact tokens",
       ""},
      {{"--no-warmup", "--warmup"}, Value::none, "the first request is the warm-up", ""},
      {{"--mmap"}, Value::none, "models are always mapped", ""},
      {{"--no-mmproj"}, Value::none, "there is no image input", ""},
      {{"--metrics"}, Value::none, "every turn's figures are in its reply's timings", ""},
      {{"--context-shift"},
       Value::none,
       "",
       "A shifted context would forget the start of a conversation silently. Leave the flag out"},
      {{"-nocb", "--no-cont-batching"},
       Value::none,
       "",
       "Continuous batching cannot be switched off; use --parallel 1 for one reply at a time"},
      {{"-no-kvu", "--no-kv-unified"},
       Value::none,
       "",
       "The cells are always shared; leave the flag out"},
      {{"--no-jinja"}, Value::none, "", "Templates are always jinja; leave the flag out"},
      {{"-cram", "--cache-ram"},
       Value::required,
       "",
       "Use --anchor-memory SIZE for the host memory of saved states"},
      {{"-ctxcp", "--ctx-checkpoints", "--swa-checkpoints"},
       Value::required,
       "",
       "Use --anchor-memory SIZE; how many states that holds follows from the model"},
      {{"-mm", "--mmproj"}, Value::required, "", "Images and audio are not supported"},
      {{"--embedding", "--embeddings", "--rerank", "--reranking"},
       Value::none,
       "",
       "Only text generation is supported"},
      {{"--lora", "--lora-scaled"}, Value::required, "", "Adapters are not supported"},
      {{"-md", "--model-draft", "--spec-draft-model"},
       Value::required,
       "",
       "Speculative decoding is not supported"},
      {{"-mu", "--model-url"},
       Value::required,
       "",
       "Use -hf OWNER/NAME:QUANT, or download the file and pass it with --model"},
      {{"--ssl-key-file", "--ssl-cert-file"},
       Value::required,
       "",
       "Put a reverse proxy in front for TLS"},
      {{"--slot-save-path"}, Value::required, "", "Saving to disk by hand is not supported"},
  };
  return table;
}

}  // namespace

const ForeignFlag* find_foreign_flag(const std::string& flag) {
  for (const ForeignFlag& foreign : foreign_flags()) {
    if (std::find(foreign.flags.begin(), foreign.flags.end(), flag) != foreign.flags.end()) {
      return &foreign;
    }
  }
  return nullptr;
}

}  // namespace samovar::app
