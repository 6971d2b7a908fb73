// Sends libllama's and ggml's own log lines to ours (base/log.h). Call once, before anything else
// of libllama. Thread-safe afterwards: libllama logs from the engine thread and from its compute
// threads.
#pragma once

namespace samovar {

// libllama is chatty: its "info" is our debug. Warnings and errors keep their level.
void route_llama_log();

}  // namespace samovar
