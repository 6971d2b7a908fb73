// samovar-storebench: what the checkpoint store costs and saves, on the machine it runs on.
//
//   --mode restore   a prompt of --prompt tokens comes back from disk, beside a plain sequential
// read
//                    of the same files: with the files in the page cache, and without
//   --mode beside    decode while the writer is busy, beside decode while it is not
//
// `samovar-storebench -m model.gguf --folder DIR [--mode ...] [--prompt N] [--reply N] [--rounds N]
// [-t N]`. The folder is filled at the first run and used again; in mode beside it is emptied.
#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>

#include "base/executor.h"
#include "bench/enginebench/measure.h"
#include "fs/posix_fs.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace samovar::bench {
namespace {

namespace fs = std::filesystem;

// What the turn told: its figures.
class FiguresSink final : public TurnSink {
 public:
  void on_event(TurnEvent event) override {
    if (const auto* end = std::get_if<TurnFinished>(&event)) {
      timings = end->timings;
      ended = true;
    } else if (std::holds_alternative<TurnFailed>(event)) {
      std::exit(1);
    }
  }
  [[nodiscard]] bool cancelled() const override { return false; }

  TurnTimings timings;
  bool ended = false;
};

// A store on threads of its own.
struct StoreBed {
  StoreBed(const LlamaEngine& engine, const std::string& folder) {
    StoreOptions options;
    options.folder = folder;
    options.size_max = std::uint64_t{64} << 30;
    options.buffer_bytes = std::size_t{512} << 20;
    options.model = Fingerprint{engine.state_format().fingerprint};
    options.layout = engine.state_format().layout;
    options.segment_bytes = engine.limits().token_bytes * 512;
    options.snapshot_bytes = engine.limits().snapshot_bytes;
    options.needs_snapshot = engine.model().rewind == RewindKind::snapshot;
    store = take_or_exit(Store::open(files, system_clock(), options, {writer, readers, catalog}));
    store->wait_ready(60 * kSecond);
  }
  ~StoreBed() {
    store->close();
    readers.stop();
    writer.stop();
    catalog.stop();
  }

  PosixFs files;
  ThreadPool readers{2, "store-read"};
  ThreadPool writer{1, "store-write"};
  ThreadPool catalog{1, "store-catalog"};
  std::unique_ptr<Store> store;
};

struct Bed {
  Bed(LlamaEngine& llama, Store& store, Micros quiet)
      : engine(llama),
        kept(store),
        scheduler(llama, system_clock(), options(quiet), {&store, &llama}) {
    store.set_wake([this] {
      const std::scoped_lock lock(mutex);
      woken = true;
      changed.notify_all();
    });
  }
  ~Bed() {
    kept.set_wake(nullptr);
    for (SeqId id = 0; id < engine.limits().sequences; ++id) engine.drop(id);
  }

  static SchedulerOptions options(Micros quiet) {
    SchedulerOptions choice;
    choice.parallel = 2;
    choice.write_behind.quiet = quiet;
    choice.write_behind.segment_tokens = 512;
    choice.write_behind.window = quiet + 1'000'000 * kSecond;
    // Without writing, not even the segments that are written as soon as they are full.
    if (quiet > 0) choice.write_behind.tokens_min = 1 << 30;
    return choice;
  }

  TurnTimings ask(const Tokens& tokens, int reply) {
    auto sink = std::make_shared<FiguresSink>();
    TurnRequest request;
    request.prompt.tokens = tokens;
    request.prompt.primer_start = static_cast<Position>(tokens.size()) - 4;
    request.prompt.message_starts = {request.prompt.primer_start};
    request.prompt.reply_starts = {request.prompt.primer_start};
    request.sampling.temperature = 0.0;
    request.max_tokens = reply;
    request.arrived = system_clock().now();
    auto sampler = take_or_exit(engine.make_sampler(request.sampling, tokens));
    scheduler.add(std::move(request), std::move(sampler), sink);
    while (!sink->ended) {
      if (scheduler.step()) continue;
      std::unique_lock lock(mutex);  // as the engine thread waits
      changed.wait_for(lock, std::chrono::milliseconds(20), [this] { return woken; });
      woken = false;
    }
    return sink->timings;
  }

  LlamaEngine& engine;
  Store& kept;
  Scheduler scheduler;
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;
};

std::vector<fs::path> blobs(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".seg" || extension == ".snap") found.push_back(entry.path());
  }
  return found;
}

// Empties the page cache of the files.
void forget_pages(const std::vector<fs::path>& files) {
  sync();
  for (const auto& path : files) {
    const int fd = open(path.c_str(), O_RDONLY);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

// Gigabytes a second of reading the files one after another into one buffer.
double plain_read(const std::vector<fs::path>& files) {
  static std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  const Micros began = system_clock().now();
  for (const auto& path : files) {
    const int fd = open(path.c_str(), O_RDONLY);
    ssize_t got = 0;
    while ((got = read(fd, buffer.data(), buffer.size())) > 0) {
      bytes += static_cast<std::uint64_t>(got);
    }
    close(fd);
  }
  return static_cast<double>(bytes) / 1e3 / static_cast<double>(system_clock().now() - began);
}

double restore_rate(LlamaEngine& engine, Store& store, const Tokens& prompt, bool show) {
  Bed bed(engine, store, 1'000'000 * kSecond);
  const TurnTimings timings = bed.ask(prompt, 1);
  if (timings.source != ReuseSource::store) {
    fmt::print(stderr, "nothing was restored\n");
    std::exit(1);
  }
  if (show) {
    fmt::print(
        "    restore {:.1f} ms: read {:.1f}, verify {:.1f}, set {:.1f}; {} bytes; prefill of "
        "{} tokens {:.1f} ms\n",
        to_ms(timings.restore), to_ms(timings.restore_read), to_ms(timings.restore_verify),
        to_ms(timings.restore_set), timings.restore_bytes, timings.computed_tokens,
        to_ms(timings.prefill));
  }
  return static_cast<double>(timings.restore_bytes) / 1e3 / static_cast<double>(timings.restore);
}

void run_restore(const BenchOptions& options, const std::string& folder) {
  const auto engine =
      take_or_exit(LlamaEngine::open(engine_options(options, options.prompt + 1024)));
  const Tokens prompt = random_tokens(7, options.prompt);
  if (!fs::exists(folder) || blobs(folder).empty()) {
    StoreBed store(*engine, folder);
    Bed bed(*engine, *store.store, 0);
    const TurnTimings cold = bed.ask(prompt, 1);
    fmt::print("  cold: {} tokens in {:.1f} s\n", cold.computed_tokens, to_ms(cold.prefill) / 1e3);
    bed.scheduler.save_all(600 * kSecond);
    store.store->drain(600 * kSecond);
  }
  const auto files = blobs(folder);
  StoreBed store(*engine, folder);
  for (const bool cached : {true, false}) {
    std::vector<double> ours;
    std::vector<double> plain;
    for (int round = -1; round < options.rounds; ++round) {
      if (!cached) forget_pages(files);
      const double restored = restore_rate(*engine, *store.store, prompt, round >= 0);
      if (!cached) forget_pages(files);
      const double read = plain_read(files);
      if (round < 0) continue;
      ours.push_back(restored);
      plain.push_back(read);
    }
    fmt::print("files {}\n", cached ? "in the page cache" : "not in the page cache");
    print_summary("restore", "GB/s", ours);
    print_summary("plain sequential read", "GB/s", plain);
    print_ratio("restore / plain read", ours, plain);
  }
}

// Decode of one session while another, of --prompt tokens, waits to be written or is written.
void run_beside(const BenchOptions& options, const std::string& folder) {
  const Position cells = options.prompt + 4 * options.reply + 4096;
  const auto engine = take_or_exit(LlamaEngine::open(engine_options(options, cells)));
  std::vector<double> without;
  std::vector<double> with;
  for (int round = -1; round < options.rounds; ++round) {
    for (const bool writes : {round % 2 == 0, round % 2 != 0}) {
      fs::remove_all(folder);
      StoreBed store(*engine, folder);
      Bed bed(*engine, *store.store, writes ? 0 : 1'000'000 * kSecond);
      bed.ask(random_tokens(100, options.prompt), 1);
      const std::uint64_t before = store.store->stats().bytes_written;
      const TurnTimings timings = bed.ask(random_tokens(200, 64), options.reply);
      const double rate = tokens_per_second(options.reply - 1, timings.decode);
      const std::uint64_t wrote = store.store->stats().bytes_written - before;
      fmt::print("    {} writing: {:.2f} tok/s, {:.1f} MB written, {:.1f} MB queued\n",
                 writes ? "while" : "without", rate, static_cast<double>(wrote) / 1e6,
                 static_cast<double>(store.store->stats().queued_bytes) / 1e6);
      if (round >= 0) (writes ? with : without).push_back(rate);
    }
  }
  print_summary("decode, nothing written", "tok/s", without);
  print_summary("decode, writer busy", "tok/s", with);
  print_ratio("busy / idle writer", with, without);
}

int run(int count, char** words) {
  BenchOptions options;
  options.mode = "restore";
  options.prompt = 8192;
  std::string folder;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    const char* value = words[i + 1];
    if (name == "-m") options.model = value;
    if (name == "--folder") folder = value;
    if (name == "--mode") options.mode = value;
    if (name == "--prompt") options.prompt = std::atoi(value);
    if (name == "--reply") options.reply = std::atoi(value);
    if (name == "--rounds") options.rounds = std::atoi(value);
    if (name == "-t") options.threads = std::atoi(value);
  }
  if (options.model.empty() || folder.empty()) {
    fmt::print(stderr,
               "usage: samovar-storebench -m MODEL --folder DIR [--mode restore|beside] "
               "[--prompt N] [--reply N] [--rounds N] [-t N]\n");
    return 2;
  }
  fmt::print("{} on {}, {} tokens, {} threads\n", options.mode, options.model, options.prompt,
             options.threads);
  if (options.mode == "beside") {
    run_beside(options, folder);
  } else {
    run_restore(options, folder);
  }
  return 0;
}

}  // namespace
}  // namespace samovar::bench

int main(int count, char** words) { return samovar::bench::run(count, words); }
