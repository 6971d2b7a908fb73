// Pocket, the small model that comes with Samovar (models/README.md): what is served where no model
// is named, so that a newcomer sees a real one at once. Its file is found beside the program (a
// checkout's models/, an installation's share/samovar/) and is taken only if it is the very file
// this build was made with. Functions; any thread. Errors say where it was looked for and what to
// do.
#pragma once

#include <string>
#include <string_view>

#include "app/options.h"
#include "base/result.h"

namespace samovar::app {

// What a newcomer types for a real model.
inline constexpr std::string_view kRealModelLine =
    "samovar serve -hf unsloth/Qwen3.5-4B-GGUF:Q4_K_M";

// The file, checked; `program` is the path of the running one.
[[nodiscard]] Result<std::string> pocket_file(const std::string& program);
[[nodiscard]] std::string running_program();

// Serve Pocket: its file, and defaults that suit it where the user gave none: cells for several
// conversations, little memory, the likeliest token. Before resolve().
[[nodiscard]] Status use_pocket(ServeOptions& options);

// True if the options name no model, in no way.
[[nodiscard]] bool names_no_model(const ServeOptions& options);

// What Pocket is, in one line, for whoever is about to talk with it.
inline constexpr std::string_view kPocketNotice =
    "Pocket is a demonstration, a tiny model that comes with Samovar: it greets, knows what "
    "Samovar is and remembers what you tell it.";

}  // namespace samovar::app
