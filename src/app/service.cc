#include "app/service.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "api/background_replies.h"
#include "api/chat_completions.h"
#include "api/messages_api.h"
#include "api/model_chat.h"
#include "api/models.h"
#include "api/page_api.h"
#include "api/responses_api.h"
#include "api/router.h"
#include "api/text_api.h"
#include "api/turn_runner.h"
#include "api/turns_api.h"
#include "app/collect.h"
#include "app/page_parts.h"
#include "app/record_parts.h"
#include "app/store_parts.h"
#include "app/turn_tracing.h"
#include "base/log.h"
#include "chat/chat_format.h"
#include "engine/llama_engine.h"
#include "engine/memory_plan.h"
#include "explain/cause.h"
#include "obs/metrics.h"
#include "sched/engine_thread.h"
#include "turn/local_turn_service.h"
#include "turn/rewarmer.h"

namespace samovar::app {

namespace {

// For handing sessions to the store when the server ends, and again for writing them.
constexpr Micros kSaveDeadline = 10 * kSecond;

EngineOptions engine_options(const ServeOptions& options) {
  EngineOptions engine;
  engine.model_path = options.model;
  engine.cells = options.ctx_size;
  engine.sequences = options.sequences;
  engine.type_k = options.cache_type_k;
  engine.type_v = options.cache_type_v;
  engine.swa_full = options.swa_full;
  engine.memory_bytes = options.memory.value_or(0);
  engine.anchor_memory_bytes = options.anchor_memory.value_or(0);
  if (options.store) engine.store_buffer_bytes = options.store_buffers.value_or(0);
  engine.parallel = options.parallel;
  engine.ubatch = options.ubatch_size;
  engine.threads = std::max(options.threads, 0);
  engine.threads_batch = std::max(options.threads_batch, 0);
  engine.gpu_layers = options.gpu_layers;
  return engine;
}

SchedulerOptions scheduler_options(const ServeOptions& options, const EngineLimits& limits) {
  SchedulerOptions scheduler;
  scheduler.parallel = options.parallel;
  scheduler.decode_share = options.decode_share;
  scheduler.anchor_grid = options.anchor_grid;
  scheduler.cut_spacing = options.cut_spacing;
  scheduler.anchor_bytes_max = options.anchor_memory.value_or(0);
  scheduler.write_behind.quiet = static_cast<Micros>(options.store_quiet * kSecond);
  scheduler.write_behind.window = static_cast<Micros>(options.store_window * kSecond);
  scheduler.write_behind.segment_tokens = segment_tokens(options, limits);
  scheduler.save_deadline = kSaveDeadline;
  return scheduler;
}

ServedModel served_model(const ServeOptions& options, const Engine& engine,
                         const ChatFormat& format) {
  const ModelInfo& info = engine.model();
  ServedModel model;
  model.id = options.alias.empty() ? info.name : options.alias;
  model.architecture = info.architecture;
  model.parameters = info.parameters;
  model.vocab_size = info.vocab_size;
  model.context = engine.limits().cells;
  model.trained_context = info.trained_context;
  model.created = system_clock().wall_seconds();
  model.chat_template = format.template_source();
  model.sequences = engine.limits().sequences;
  model.sampling = options.sampling;
  return model;
}

ChatDefaults chat_defaults(const ServeOptions& options, const Engine& engine) {
  ChatDefaults defaults;
  defaults.sampling = options.sampling;
  defaults.vocab_size = engine.model().vocab_size;
  defaults.neutralise = options.neutralise;
  defaults.sort_tools = options.sort_tools;
  defaults.store_responses = options.store_responses;
  return defaults;
}

void tell_trained_context(const Engine& engine) {
  const auto trained = engine.model().trained_context;
  if (trained <= 0 || engine.limits().cells <= trained) return;
  log_info(
      "{} cells are for all conversations together; in one of more than {} tokens the model "
      "goes beyond what it was trained for",
      engine.limits().cells, trained);
}

}  // namespace

// In the order of construction; what stands below borrows from what stands above.
struct Service::Parts {
  // What can fail to load.
  struct Loaded {
    MemoryPlan plan;
    std::unique_ptr<Metrics> metrics;
    std::unique_ptr<LlamaEngine> engine;
    std::unique_ptr<StoreParts> store;  // null: none
    std::unique_ptr<ChatFormat> format;
    std::unique_ptr<TurnTracing> trace;  // null: no --record
  };

  Parts(const ServeOptions& options, Loaded loaded, const WrapEngine& wrap)
      : metrics(std::move(loaded.metrics)),
        engine(std::move(loaded.engine)),
        wrapped(wrap ? wrap(*engine) : nullptr),
        store(std::move(loaded.store)),
        format(std::move(loaded.format)),
        trace(std::move(loaded.trace)),
        record(options, *engine, *format, *metrics, trace.get()),
        chat(
            *format, [this](Token token) { return engine->piece(token, true); }, record.replies()),
        engine_thread(wrapped == nullptr ? *engine : *wrapped, system_clock(),
                      scheduler_options(options, engine->limits()), options.queue,
                      {.store = store == nullptr ? nullptr : &store->store(), .port = engine.get()},
                      *metrics),
        turns(engine_thread),
        rewarmer(options.rewarm ? std::make_unique<Rewarmer>(rewarmer_parts(), system_clock())
                                : nullptr),
        models(served_model(options, *engine, *format)),
        turns_api(record.records()),
        runner(chat, turns, &record.records(), system_clock(), chat_defaults(options, *engine)),
        completions(runner, models.model().id),
        messages(runner, models.model().id),
        text(runner, models.model().id),
        background(background_threads),
        responses(runner, background, models.model().id),
        page(page_parts({.options = options,
                         .plan = loaded.plan,
                         .model = models.model(),
                         .engine = *engine,
                         .engine_thread = engine_thread,
                         .store = store == nullptr ? nullptr : &store->store(),
                         .records = record.records(),
                         .ready = [this] { return accepting.load(); }})),
        router({completions, messages, responses, text, &turns_api, models,
                [this] { return accepting.load(); }, &page, [this] { return metrics->text(); }}) {
    metrics->collect_with(
        [this] { return collect(engine_thread, store == nullptr ? nullptr : &store->store()); });
    if (rewarmer == nullptr) return;
    record.records().on_ended([this](EndedReply ended) {
      rewarmer->reply_ended(std::move(ended.chat), std::move(ended.reply), *ended.prompt,
                            std::move(ended.tokens), std::move(ended.session));
    });
  }

  ~Parts() {
    metrics->collect_with({});
    engine_thread.stop();  // ends replies in the background
    background_threads.stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  RewarmerParts rewarmer_parts() {
    return {.render = [this](const ChatRequest& request) -> Result<Prompt> {
              auto rendered = chat.render(request);
              if (!rendered) return std::unexpected(rendered.error());
              return std::move(rendered->prompt);
            },
            .submit =
                [this](TurnRequest turn, std::shared_ptr<TurnSink> sink) {
                  return engine_thread.submit(std::move(turn), std::move(sink));
                },
            .quiet = [this] { return engine_thread.load() == 0; }};
  }

  std::atomic<bool> accepting = true;
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<LlamaEngine> engine;
  std::unique_ptr<Engine> wrapped;    // null: the engine itself computes
  std::unique_ptr<StoreParts> store;  // null: none
  std::unique_ptr<ChatFormat> format;
  std::unique_ptr<TurnTracing> trace;  // null: no --record
  RecordParts record;
  ModelChat chat;
  EngineThread engine_thread;
  LocalTurnService turns;
  std::unique_ptr<Rewarmer> rewarmer;  // null: --no-rewarm
  Models models;
  TurnsApi turns_api;
  TurnRunner runner;
  ChatCompletions completions;
  MessagesApi messages;
  TextApi text;
  ThreadPool background_threads{static_cast<int>(limits::background_replies_max), "background"};
  BackgroundReplies background;
  ResponsesApi responses;
  PageApi page;
  Router router;
};

Result<std::unique_ptr<Service>> Service::load(const ServeOptions& options,
                                               const WrapEngine& wrap) {
  EngineOptions engine_choice = engine_options(options);
  const auto plan = plan_memory(engine_choice);
  if (!plan) return std::unexpected(plan.error());
  if (options.announce) {
    fmt::print("{}\n", plan->table());
    std::fflush(stdout);
  }
  engine_choice.cells = plan->cells;
  std::unique_ptr<TurnTracing> trace;
  if (!options.record.empty()) {
    auto opened = TurnTracing::open(options);
    if (!opened) return std::unexpected(opened.error());
    trace = std::move(*opened);
  }
  auto engine = LlamaEngine::open(engine_choice);
  if (!engine) return std::unexpected(engine.error());
  tell_trained_context(**engine);
  auto metrics = std::make_unique<Metrics>(miss_classes());
  auto store = StoreParts::open(options, **engine, *metrics);
  if (!store) return std::unexpected(store.error());
  auto format = ChatFormat::create((*engine)->raw_model(), {options.chat_template});
  if (!format) return std::unexpected(format.error());
  return std::unique_ptr<Service>(new Service(std::make_unique<Parts>(
      options,
      Parts::Loaded{*plan, std::move(metrics), std::move(*engine), std::move(*store),
                    std::move(*format), std::move(trace)},
      wrap)));
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Service::~Service() = default;

HttpResponse Service::handle(const HttpRequest& request) const {
  return parts_->router.handle(request);
}

const std::string& Service::model_id() const { return parts_->models.model().id; }

void Service::close() {
  parts_->accepting = false;
  parts_->engine_thread.close();
  parts_->page.close();
  if (parts_->rewarmer != nullptr) parts_->rewarmer->stop();
}

bool Service::drain(Micros deadline) { return parts_->engine_thread.drain(deadline); }

void Service::stop() {
  if (parts_->rewarmer != nullptr) parts_->rewarmer->stop();
  parts_->engine_thread.stop();
  parts_->background_threads.stop();  // their turns have just ended
  parts_->record.close();
  parts_->metrics->collect_with({});  // the store is about to be closed
  if (parts_->store != nullptr) parts_->store->close(kSaveDeadline);
}

}  // namespace samovar::app
