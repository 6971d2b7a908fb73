#include "engine/memory_plan.h"

#include <fmt/core.h>
#include <ggml-backend.h>
#include <llama-ext.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/size_text.h"
#include "engine/available_memory.h"
#include "engine/llama_model.h"
#include "engine/memory_costs.h"

namespace samovar {
namespace {

constexpr Position kCellsMin = 512;         // less is no conversation
constexpr double kShareOfAvailable = 0.85;  // the rest: the program itself, page cache, others

// The memory that the model lives in: that of its GPUs, or the machine's.
std::uint64_t available_memory(const llama_model* model) {
  std::uint64_t on_devices = 0;
  for (int i = 0; i < llama_model_n_devices(model); ++i) {
    ggml_backend_dev_t device = llama_model_get_device(model, i);
    std::size_t free = 0;
    std::size_t all = 0;
    ggml_backend_dev_memory(device, &free, &all);
    on_devices += ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU ? free : 0;
  }
  return on_devices + available_host_memory();
}

Position round_up(Position cells) {
  return (std::max(cells, kCellsMin) + kCellGrain - 1) / kCellGrain * kCellGrain;
}

// The search for what fits. Estimates are linear and cheap; what is offered was measured.
class Planner {
 public:
  Planner(llama_model* model, const llama_context_params& params, const MemoryCosts& costs,
          int llama_sequences, MemoryPlan& plan)
      : model_(model), params_(params), costs_(costs), sequences_(llama_sequences), plan_(plan) {}

  // Sets every size in the plan. False if they exceed the budget.
  Result<bool> try_cells(Position cells) {
    plan_.cells = cells;
    needed_ = costs_.total(cells, sequences_, plan_.anchors);
    if (needed_ > plan_.budget + plan_.budget / 8) {
      return false;  // so far off that measuring, which allocates the states, would be no use
    }
    const Result<MemorySizes> sizes = measure_sizes(model_, params_, cells, sequences_);
    if (!sizes) {
      return std::unexpected(sizes.error());
    }
    set_sizes(*sizes);
    needed_ = plan_.total();
    return needed_ <= plan_.budget;
  }

  // The largest number of cells that fits, at most `wanted`; 0 if none does.
  Result<Position> largest(Position wanted) {
    Position cells = estimate(wanted);
    while (cells >= kCellsMin) {
      const Result<bool> fits = try_cells(cells);
      if (!fits) {
        return std::unexpected(fits.error());
      }
      if (*fits) {
        return cells;
      }
      cells -= std::max(kCellGrain, cells / 64 / kCellGrain * kCellGrain);
    }
    return 0;
  }

  [[nodiscard]] std::uint64_t needed() const { return needed_; }

  // For fewer sequences, without anchors, with the smallest context.
  [[nodiscard]] std::uint64_t least(int fewer) const {
    return costs_.total(kCellsMin, sequences_ - fewer, plan_.buffers);
  }

 private:
  [[nodiscard]] Position estimate(Position wanted) const {
    Position low = 0;
    Position high = wanted / kCellGrain;
    while (low < high) {  // the total grows with the cells
      const Position middle = low + (high - low + 1) / 2;
      if (costs_.total(middle * kCellGrain, sequences_, plan_.anchors + plan_.buffers) <=
          plan_.budget) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low * kCellGrain;
  }

  void set_sizes(const MemorySizes& sizes) {
    plan_.weights = sizes.weights;
    plan_.state_each = costs_.memory_per_sequence;
    plan_.states = plan_.state_each > 0 ? sequences_ : 0;
    plan_.state = plan_.state_each * static_cast<std::uint64_t>(plan_.states);
    plan_.kv = sizes.memory - std::min(sizes.memory, plan_.state);
    plan_.kv_per_token = costs_.memory_per_token;
    plan_.compute = sizes.compute;
    plan_.outputs = costs_.outputs_per_sequence * static_cast<std::uint64_t>(sequences_);
    plan_.on_device = sizes.on_device;
  }

  llama_model* model_;
  const llama_context_params& params_;
  const MemoryCosts& costs_;
  int sequences_;
  MemoryPlan& plan_;
  std::uint64_t needed_ = 0;
};

// Called when plan.cells do not fit; looks for the flag whose change costs the user least.
Error does_not_fit(const EngineOptions& options, Planner& planner, MemoryPlan plan) {
  Error error{
      .kind = ErrorKind::unavailable,
      .message = fmt::format("{} are needed, but {} {}", format_bytes(planner.needed()),
                             format_bytes(plan.budget),
                             plan.budget_given ? "are allowed by --memory" : "are available"),
      .field = "-c",
      .remedy = {}};
  const std::uint64_t excess = planner.needed() - plan.budget;
  const Position smaller = planner.largest(plan.cells - kCellGrain).value_or(0);
  if (plan.anchors / 2 >= excess || (plan.anchors >= excess && smaller < plan.cells / 2)) {
    error.field = "--anchor-memory";  // fewer snapshots, the same conversations
    error.remedy = fmt::format("--anchor-memory {}M would fit.", (plan.anchors - excess) >> 20);
    return error;
  }
  if (smaller > 0) {
    error.remedy = fmt::format("-c {} would fit.", smaller);
    return error;
  }
  if (plan.anchors > 0 && planner.least(0) < plan.budget) {
    error.field = "--anchor-memory";
    error.remedy = fmt::format("-c {} --anchor-memory {}M would fit.", kCellsMin,
                               (plan.budget - planner.least(0)) >> 20);
    return error;
  }
  for (int sequences = options.sequences - 1; sequences > 0; --sequences) {
    if (planner.least(options.sequences - sequences) <= plan.budget) {
      error.field = "--sequences";
      error.remedy =
          fmt::format("-c {} --sequences {} --anchor-memory 0 would fit.", kCellsMin, sequences);
      return error;
    }
  }
  error.field = plan.budget_given ? "--memory" : "-m";
  error.remedy = fmt::format("The least this model runs with is {}; a smaller model is needed.",
                             format_bytes(planner.least(options.sequences - 1)));
  return error;
}

MemoryPlan start_plan(const EngineOptions& options, const llama_model* model,
                      const MemoryShape& shape) {
  MemoryPlan plan;
  plan.sequences = options.sequences;
  plan.trained_context = llama_model_n_ctx_train(model);
  plan.anchors = shape.rewind == RewindKind::snapshot ? options.anchor_memory_bytes : 0;
  plan.buffers = options.store_buffer_bytes;
  plan.budget_given = options.memory_bytes > 0;
  plan.budget = plan.budget_given
                    ? options.memory_bytes
                    : static_cast<std::uint64_t>(static_cast<double>(available_memory(model)) *
                                                 kShareOfAvailable);
  plan.cells_chosen = options.cells == 0;
  plan.cells = round_up(plan.cells_chosen ? plan.trained_context : options.cells);
  return plan;
}

}  // namespace

Result<MemoryPlan> plan_memory(const EngineOptions& options) {
  if (const Status status = load_backends(options.backend_dir); !status) {
    return std::unexpected(status.error());
  }
  const Result<LlamaModelPtr> model = load_model(options, /*weightless=*/true);
  if (!model) {
    return std::unexpected(model.error());
  }
  const MemoryShape shape = memory_shape(**model, options);
  const Result<llama_context_params> params = context_params(options, shape);
  if (!params) {
    return std::unexpected(params.error());
  }
  const Result<MemoryCosts> costs = measure_costs(model->get(), *params);
  if (!costs) {
    return std::unexpected(costs.error());
  }
  MemoryPlan plan = start_plan(options, model->get(), shape);
  Planner planner(model->get(), *params, *costs, llama_sequences(options, shape), plan);
  if (plan.cells_chosen) {
    const Position wanted = plan.cells;
    const Result<Position> chosen = planner.largest(wanted);
    if (!chosen) {
      return std::unexpected(chosen.error());
    }
    if (*chosen > 0) {
      return plan;
    }
    plan.cells = kCellsMin;
  }
  const Result<bool> fits = planner.try_cells(plan.cells);
  if (!fits) {
    return std::unexpected(fits.error());
  }
  if (!*fits) {
    return std::unexpected(does_not_fit(options, planner, plan));
  }
  return plan;
}

std::string MemoryPlan::table() const {
  std::string text;
  const auto row = [&](const char* name, const std::string& detail, std::uint64_t bytes) {
    text += fmt::format("  {:<9} {:<48} {:>12}\n", name, detail, format_bytes(bytes));
  };
  row("weights", "", weights);
  row("K/V",
      fmt::format(
          "{} tokens x {}{}", cells, format_bytes(kv_per_token),
          cells_chosen ? fmt::format(" (chosen; trained for {})", trained_context) : std::string()),
      kv);
  if (states > 0) {
    row("state", fmt::format("{} sequences + scratch, x {}", states - 1, format_bytes(state_each)),
        state);
  }
  row("compute", "", compute);
  row("outputs", "", outputs);
  if (anchors > 0) {
    row("anchors", "snapshots in host memory, at most", anchors);
  }
  if (buffers > 0) {
    row("buffers", "for the store (--store-buffers)", buffers);
  }
  row("total",
      fmt::format("of {} {}", format_bytes(budget),
                  budget_given ? "(--memory)" : "(85 % of what is available)"),
      total());
  if (on_device > 0) {
    row("", "of this, in GPU memory", on_device);
  }
  return text;
}

}  // namespace samovar
