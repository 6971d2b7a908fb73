// From argv and a config file to ServeOptions. CLI11 does the parsing; this file feeds it the
// table.
//
// Two things come before it, because CLI11 cannot do them: llama-server's short flags of several
// letters ("-ngl 99", "-ngl=99") become their long spelling, and flags that only llama-server knows
// are taken out, each with a note or an error.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "app/foreign_flags.h"
#include "app/options.h"

namespace samovar::app {

namespace {

using Words = std::vector<std::string>;

const char* const kSeeHelp = "`samovar serve --help` lists the options";

std::unexpected<Error> refuse(std::string message, std::string field,
                              std::string remedy = kSeeHelp) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(field), std::move(remedy));
}

// "-ngl" -> "--gpu-layers", for every single-dash flag of more than one letter.
std::map<std::string, std::string> long_spellings(const std::vector<OptionRow>& rows) {
  std::map<std::string, std::string> spellings;
  for (const OptionRow& row : rows) {
    for (const std::string& flag : row.flags) {
      if (flag.size() > 2 && flag[1] != '-') spellings[flag] = "--" + row.key();
    }
  }
  return spellings;
}

// Flags that take the next word as their value, whatever it looks like.
bool takes_value(const std::vector<OptionRow>& rows, const std::string& flag) {
  if (flag == "--config") return true;
  for (const OptionRow& row : rows) {
    const bool found = std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
    if (found) return !row.value.empty();
  }
  return false;
}

struct Normalised {
  Words words;
  std::vector<std::string> notes;
};

// Handles the foreign flag at words[index]; returns how many further words it used.
Result<std::size_t> accept_foreign(const ForeignFlag& foreign, const Words& words,
                                   std::size_t index, std::vector<std::string>& notes) {
  const std::string& word = words[index];
  const std::size_t equals = word.find('=');
  const std::string flag = word.substr(0, equals);
  std::optional<std::string> value;
  std::size_t used = 0;
  const bool next_is_value =
      index + 1 < words.size() &&
      (foreign.value == ForeignFlag::Value::required || !words[index + 1].starts_with("-"));
  if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else if (foreign.value != ForeignFlag::Value::none && next_is_value) {
    value = words[index + 1];
    used = 1;
  }
  if (foreign.note.empty() || (!foreign.refused_value.empty() && value == foreign.refused_value)) {
    return refuse(flag + " is an option of llama-server that Samovar does not have", flag,
                  foreign.refusal);
  }
  notes.push_back(flag + ": accepted, no effect: " + foreign.note);
  return used;
}

Result<Normalised> normalise(const Words& arguments, const std::vector<OptionRow>& rows) {
  const auto spellings = long_spellings(rows);
  Normalised result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const std::size_t equals = word.find('=');
    std::string flag = word.substr(0, equals);
    if (const ForeignFlag* foreign = find_foreign_flag(flag)) {
      const auto used = accept_foreign(*foreign, arguments, i, result.notes);
      if (!used) return std::unexpected(used.error());
      i += *used;
      continue;
    }
    const auto spelling = spellings.find(flag);
    if (spelling != spellings.end()) flag = spelling->second;
    const bool whole = equals == std::string::npos;
    result.words.push_back(whole ? flag : flag + word.substr(equals));
    if (whole && takes_value(rows, flag) && i + 1 < arguments.size()) {
      result.words.push_back(arguments[++i]);
    }
  }
  return result;
}

// The names CLI11 accepts: "-m,--model", "--swa-full,!--no-swa-full".
std::string cli_names(const OptionRow& row) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ",") + name;
  };
  for (const std::string& flag : row.flags) {
    if (flag.size() == 2 || flag.starts_with("--")) add(flag);
  }
  for (const std::string& flag : row.negative) add("!" + flag);
  return names;
}

using Given = std::vector<std::pair<std::string, std::string>>;

// What is given and shown to whoever may see the server's state.
void note_given(const OptionRow& row, const std::string& value, Given& given) {
  const std::string key = row.key();
  if (key == "api-key" || key == "hf-token" || key == "chat-template") return;
  const bool flag = row.value.empty();
  given.emplace_back("--" + key, !flag ? value : value == "true" ? "on" : "off");
}

void set_or_throw(const OptionRow& row, const std::string& value, Given& given) {
  const std::string wrong = row.set(value);
  if (!wrong.empty()) throw CLI::ValidationError("--" + row.key(), wrong);
  note_given(row, value, given);
}

void add_row(CLI::App& app, const OptionRow& row, Given& given) {
  if (row.value.empty()) {
    app.add_flag_function(
        cli_names(row),
        [&row, &given](std::int64_t count) {
          set_or_throw(row, count > 0 ? "true" : "false", given);
        },
        row.help);
    return;
  }
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      cli_names(row),
      [&row, &given](const std::vector<std::string>& values) {
        if (!row.repeatable) return set_or_throw(row, values.back(), given);
        for (const std::string& value : values) set_or_throw(row, value, given);
      },
      row.help);
  option->type_size(1)->expected(1)->allow_extra_args(false);
  if (row.repeatable) {
    option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  } else {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

// "The following argument was not expected: --frob" -> "--frob"; "--port: 1 required N missing" ->
// "--port".
std::string after_colon(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}
std::string before_colon(const std::string& text) { return text.substr(0, text.find(':')); }

Status run_parser(CLI::App& app, Words words) {
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError& error) {
    return refuse("unknown option: " + after_colon(error.what()), "");
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse(before_colon(error.what()) + " needs a value", "");
  } catch (const CLI::ConfigError& error) {
    return refuse("config file: " + std::string(error.what()), "--config",
                  "Keys are the long options without their dashes, as in `ctx-size = 65536`");
  } catch (const CLI::FileError& error) {
    return refuse("config file: " + std::string(error.what()), "--config", "Check the path");
  } catch (const CLI::ParseError& error) {
    return refuse(error.what(), "");
  }
  return {};
}

}  // namespace

Result<ParsedServe> parse_serve(const Words& arguments) {
  ParsedServe parsed;
  const std::vector<OptionRow> rows = option_rows(parsed.options);
  auto normalised = normalise(arguments, rows);
  if (!normalised) return std::unexpected(normalised.error());
  parsed.notes = std::move(normalised->notes);
  for (const std::string& word : normalised->words) {
    if (word == "-h" || word == "--help") {
      parsed.help = true;
      return parsed;
    }
  }
  CLI::App app("serve");
  app.set_help_flag();
  app.set_config("--config");
  app.allow_config_extras(CLI::config_extras_mode::error);
  for (const OptionRow& row : rows) add_row(app, row, parsed.options.given);
  if (const auto status = run_parser(app, std::move(normalised->words)); !status) {
    return std::unexpected(status.error());
  }
  return parsed;
}

}  // namespace samovar::app
