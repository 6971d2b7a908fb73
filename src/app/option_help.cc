// The option table as people read it: --help and docs/options.md.
#include "app/options.h"
#include "app/wrap.h"

namespace samovar::app {

namespace {

constexpr std::size_t kIndent = 34;

OptionRow config_row() {
  return {{"--config"},
          {},
          "FILE",
          "Server",
          "read options from a TOML or INI file; the command line goes first",
          "none",
          {}};
}

OptionRow help_row() { return {{"-h", "--help"}, {}, "", "Server", "show this text", "", {}}; }

std::vector<OptionRow> documented_rows() {
  ServeOptions options;
  std::vector<OptionRow> rows = option_rows(options);
  for (OptionRow& row : rows) row.set = nullptr;  // it borrows `options`
  rows.push_back(config_row());
  rows.back().group = "Other";
  rows.push_back(help_row());
  rows.back().group = "Other";
  return rows;
}

std::string spelled(const OptionRow& row) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  for (const std::string& flag : row.flags) add(flag);
  for (const std::string& flag : row.negative) add(flag);
  return row.value.empty() ? names : names + " " + row.value;
}

std::string help_entry(const OptionRow& row) {
  std::string left = "  " + spelled(row);
  left += left.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ')
                                    : std::string(kIndent - left.size(), ' ');
  std::string right = row.help;
  if (!row.fallback.empty()) right += " (default: " + row.fallback + ")";
  if (row.repeatable) right += "; may be given several times";
  return left + wrapped(right, kIndent) + "\n";
}

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

const char* const kMarkdownHead = R"(# Options of `samovar serve`

Made from the option table by `samovar options --markdown`; do not edit. The command line goes
before the config file (`--config FILE`), whose keys are the long options without their dashes:

```toml
model = "qwen3.5-35b-a3b.gguf"
ctx-size = 262144
parallel = 4
```

The environment is used for one secret of Samovar's own, `SAMOVAR_API_KEY`, which adds a key, and
for what all programs that use the Hugging Face hub have in common ([models.md](models.md)).
)";

}  // namespace

std::string serve_help() {
  std::string text = "Usage: samovar serve (--model FILE | -hf OWNER/NAME[:QUANT]) [options]\n";
  std::string group;
  for (const OptionRow& row : documented_rows()) {
    if (row.group != group) text += "\n" + row.group + ":\n";
    group = row.group;
    text += help_entry(row);
  }
  return text +
         "\nSizes may be written 512M, 4G or 1.5GiB. The environment variable SAMOVAR_API_KEY adds "
         "a "
         "key;\nHF_TOKEN, HF_ENDPOINT, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE mean what they "
         "mean to "
         "others.\n";
}

std::string options_markdown() {
  std::string text = kMarkdownHead;
  std::string group;
  for (const OptionRow& row : documented_rows()) {
    if (row.group != group) {
      text += "\n## " + row.group + "\n\n| option | meaning | default |\n|---|---|---|\n";
    }
    group = row.group;
    const std::string repeat = row.repeatable ? "; may be given several times" : "";
    text += "| `" + cell(spelled(row)) + "` | " + cell(row.help) + repeat + " | " +
            cell(row.fallback) + " |\n";
  }
  return text;
}

}  // namespace samovar::app
