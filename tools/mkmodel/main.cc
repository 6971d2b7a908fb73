// samovar-mkmodel: makes small random models with real architectures and the real Qwen tokenizer
// and chat template, for tests, the demonstration and measurements. The same arguments give the
// same file.
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/mkmodel/architecture.h"
#include "tools/mkmodel/gguf_file.h"
#include "tools/mkmodel/shape.h"
#include "tools/mkmodel/vocabulary.h"

namespace samovar::mkmodel {
namespace {

constexpr std::string_view kHelp =
    "Makes a small random model (GGUF) with a real architecture, tokenizer and chat template.\n"
    "Usage: samovar-mkmodel [options] --out FILE\n"
    "  --arch NAME      architecture (default qwen35moe; see --list)\n"
    "  --size NAME      size (default tiny; see --list)\n"
    "  --seed N         the weights are a function of this number (default 1)\n"
    "  --vocab FILE     llama.cpp's ggml-vocab-qwen35.gguf (default: of the llama.cpp built with)\n"
    "  --template FILE  chat template (default: Qwen3.5-4B.jinja of the same)\n"
    "  --parts N        write N files, as large models are split (default 1: one file)\n"
    "  --out FILE       the model to write; in parts, FILE-00001-of-0000N.gguf and so on\n"
    "  --list           list architectures and sizes\n"
    "  --help           this text\n";

struct Options {
  std::string arch = "qwen35moe";
  std::string size = "tiny";
  std::string vocab = SAMOVAR_LLAMA_DIR "/src/models/ggml-vocab-qwen35.gguf";
  std::string chat_template = SAMOVAR_LLAMA_DIR "/src/models/templates/Qwen3.5-4B.jinja";
  std::string out;
  std::uint64_t seed = 1;
  int parts = 1;
  bool list = false;
  bool help = false;
};

Status set_option(Options& options, const std::string& flag, const std::string& value) {
  if (flag == "--seed" || flag == "--parts") {
    const char* end = value.data() + value.size();
    const auto [stop, error] = flag == "--seed" ? std::from_chars(value.data(), end, options.seed)
                                                : std::from_chars(value.data(), end, options.parts);
    const bool many = options.parts >= 1 && options.parts <= 100;
    if (error == std::errc() && stop == end && many) return {};
    return fail(ErrorKind::invalid_argument, "'" + value + "' is not a whole number that fits",
                flag);
  }
  std::string* target = flag == "--arch"       ? &options.arch
                        : flag == "--size"     ? &options.size
                        : flag == "--vocab"    ? &options.vocab
                        : flag == "--template" ? &options.chat_template
                        : flag == "--out"      ? &options.out
                                               : nullptr;
  if (target == nullptr) {
    return fail(ErrorKind::invalid_argument, "unknown option " + flag, "", "See --help");
  }
  *target = value;
  return {};
}

Result<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--help" || flag == "-h") {
      options.help = true;
    } else if (flag == "--list") {
      options.list = true;
    } else if (i + 1 == arguments.size()) {
      return fail(ErrorKind::invalid_argument, flag + " is unknown or lacks a value", "",
                  "See --help");
    } else if (const Status set = set_option(options, flag, arguments[++i]); !set) {
      return std::unexpected(set.error());
    }
  }
  if (options.out.empty() && !options.list && !options.help) {
    return fail(ErrorKind::invalid_argument, "no file to write", "--out", "See --help");
  }
  return options;
}

std::string list() {
  std::string text = "architectures (--arch):\n";
  const auto line = [&](std::string_view name, std::string_view about) {
    text +=
        "  " + std::string(name) + std::string(15 - name.size(), ' ') + std::string(about) + "\n";
  };
  for (const Architecture& architecture : architectures())
    line(architecture.name, architecture.about);
  text += "sizes (--size):\n";
  for (const Shape& shape : shapes()) line(shape.name, shape.about);
  return text;
}

Result<std::string> read_text(const std::string& path, const std::string& flag) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in || text.empty()) return fail(ErrorKind::not_found, "cannot read " + path, flag);
  return text;
}

Result<std::uint64_t> make(const Options& options) {
  const Architecture* architecture = find_architecture(options.arch);
  if (architecture == nullptr) {
    return fail(ErrorKind::invalid_argument, "no architecture '" + options.arch + "'", "--arch",
                "See --list");
  }
  const Shape* shape = find_shape(options.size);
  if (shape == nullptr) {
    return fail(ErrorKind::invalid_argument, "no size '" + options.size + "'", "--size",
                "See --list");
  }
  const Result<Vocabulary> vocabulary = read_vocabulary(options.vocab, shape->vocabulary);
  if (!vocabulary) return std::unexpected(vocabulary.error());
  const Result<std::string> chat_template = read_text(options.chat_template, "--template");
  if (!chat_template) return std::unexpected(chat_template.error());

  const std::unique_ptr<gguf_context, decltype(&gguf_free)> file(gguf_init_empty(), gguf_free);
  architecture->metadata(file.get(), *shape);
  const std::string name = options.size + "-" + options.arch;
  gguf_set_val_str(file.get(), "general.name", name.c_str());
  put_vocabulary(file.get(), *vocabulary, *chat_template);
  const auto tokens = static_cast<std::uint32_t>(vocabulary->tokens.size());
  const auto plan = architecture->tensors(*shape, tokens);
  return options.parts == 1
             ? write_model(file.get(), plan, options.seed, options.out)
             : write_split_model(file.get(), plan, options.seed, options.out, options.parts);
}

int run(const std::vector<std::string>& arguments) {
  const Result<Options> options = parse(arguments);
  if (options && options->help) {
    std::cout << kHelp;
    return 0;
  }
  if (options && options->list) {
    std::cout << list();
    return 0;
  }
  const Result<std::uint64_t> bytes =
      options ? make(*options) : Result<std::uint64_t>(std::unexpected(options.error()));
  if (!bytes) {
    std::cerr << "samovar-mkmodel: error: " << bytes.error().describe() << "\n";
    return options ? 1 : 2;
  }
  std::cout << options->out << ": " << *bytes / 1'000'000 << " MB\n";
  return 0;
}

}  // namespace
}  // namespace samovar::mkmodel

int main(int argc, char** argv) {
  return samovar::mkmodel::run(std::vector<std::string>(argv + 1, argv + argc));
}
