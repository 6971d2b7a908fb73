#include "bench/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/step_text.h"

namespace samovar::bench {
namespace {

// Milliseconds. What is over sooner ends, with its pauses, before a store begins to write.
constexpr double kLong = 500;

constexpr std::int64_t kProbeWords = 40;
constexpr std::int64_t kProbeMore = 800;
constexpr std::int64_t kProbeMessages = 8;
constexpr std::int64_t kSpare = 512;  // tokens that a conversation may be longer than planned

}  // namespace

Runner::Runner(const std::vector<Target*>& targets, const PlanOptions& options, RunnerTools tools)
    : options_(options), tools_(std::move(tools)), tasks_(make_tasks(options)) {
  for (Target* target : targets) {
    Subject subject;
    subject.target = target;
    subject.settings.extra = options.extra;
    subjects_.push_back(std::move(subject));
  }
}

Stop Runner::stop() const {
  return [this] { return !tools_.wait(0); };
}

Answer Runner::ask(Subject& subject, const std::vector<Message>& messages,
                   std::int64_t max_tokens) {
  subject.settings.max_tokens = max_tokens;
  subject.settled = false;
  for (;;) {
    Answer answer = subject.target->ask({chat_body(messages, subject.settings)}, stop());
    if (answer.ok() || answer.stopped) return answer;
    const auto field = refused_field(answer.status, answer.error->message, subject.settings);
    if (!field) return answer;
    tools_.say(
        fmt::format("{} does not know `{}`: it is left out", subject.target->name(), *field));
    subject.settings.left_out.insert(*field);
  }
}

Result<RunResult> Runner::run() {
  RunResult result;
  began_ = tools_.clock.now();
  if (auto status = prepare(result); !status) return std::unexpected(status.error());
  std::int64_t depth = -1;
  for (std::size_t i = 0; i < tasks_.size() && tools_.wait(0); ++i) {
    if (tasks_[i].depth != depth) begin_depth(depth = tasks_[i].depth);
    if (i == 0 || tasks_[i].step != tasks_[i - 1].step || tasks_[i].depth != tasks_[i - 1].depth) {
      announce(i);
    }
    show(i);
    carry_out(tasks_[i], i, result);
  }
  result.stopped = !tools_.wait(0);
  if (!result.stopped) show(tasks_.size());
  return result;
}

Status Runner::prepare(RunResult& result) {
  for (Subject& subject : subjects_) {
    auto facts = subject.target->facts(stop());
    if (!facts) return std::unexpected(facts.error());
    subject.settings.model = facts->model_id;
    subject.context = facts->context.value_or(0);
    result.facts.push_back(std::move(*facts));
  }
  if (auto status = measure_words(subjects_.front()); !status) return status;
  for (std::size_t i = 0; i < subjects_.size(); ++i) warm_up(subjects_[i], i);
  return {};
}

// Three short prompts: how many tokens a word and a message make.
Status Runner::measure_words(Subject& subject) {
  const auto count = [&](const std::vector<Message>& messages) -> Result<double> {
    const Answer answer = ask(subject, messages, 1);
    if (!answer.ok()) return std::unexpected(*answer.error);
    if (answer.figures.prompt_tokens) return static_cast<double>(*answer.figures.prompt_tokens);
    return fail(ErrorKind::invalid_argument,
                subject.target->name() + " does not say how many tokens a prompt has", "--against",
                "a server is needed that sends `usage` at the end of its streams");
  };
  const auto talk = [&](std::int64_t words, std::int64_t messages) {
    std::vector<Message> made;
    made.reserve(static_cast<std::size_t>(messages));
    for (std::int64_t i = 0; i < messages; ++i) {
      made.push_back({i % 2 == 0 ? "user" : "assistant",
                      prose(words, mix_seed(options_.seed, static_cast<std::uint64_t>(i), 77))});
    }
    return made;
  };
  const auto one = count(talk(kProbeWords, 1));
  if (!one) return std::unexpected(one.error());
  const auto longer = count(talk(kProbeWords + kProbeMore, 1));
  if (!longer) return std::unexpected(longer.error());
  const auto many = count(talk(kProbeWords, 1 + kProbeMessages));
  if (!many) return std::unexpected(many.error());
  words_.tokens_per_word = std::max(0.1, (*longer - *one) / static_cast<double>(kProbeMore));
  words_.tokens_per_message =
      std::max(0.0, (*many - *one) / static_cast<double>(kProbeMessages) -
                        words_.tokens_per_word * static_cast<double>(kProbeWords));
  start_ = static_cast<std::int64_t>(std::max(
      0.0, *one - words_.tokens_per_message - words_.tokens_per_word * double{kProbeWords}));
  return {};
}

// Pages of the model's file, threads, first buffers; and a first idea of the speed.
void Runner::warm_up(Subject& subject, std::uint64_t number) {
  const auto history =
      make_history(1024, options_.message_tokens, mix_seed(options_.seed, number, 78), words_);
  const Answer answer = ask(subject, history, 1);
  if (answer.ok()) costs_.cold(subject.target->name(), 1024, answer.total_ms());
}

// What questions and replies of the plan add to the longest conversation of that depth.
std::int64_t Runner::room(std::int64_t depth) const {
  std::map<std::int64_t, double> added;
  for (const Task& task : tasks_) {
    if (task.depth != depth) continue;
    double& tokens = added[task.session];
    if (task.begins) tokens = 0;
    tokens += 2 * words_.tokens_per_message + static_cast<double>(reply_of(task));
    if (!task.begins) {
      tokens += words_.tokens_per_word * static_cast<double>(options_.question_words);
    }
  }
  double most = 0;
  for (const auto& [session, tokens] : added) most = std::max(most, tokens);
  return kSpare + static_cast<std::int64_t>(most);
}

void Runner::begin_depth(std::int64_t depth) {
  for (Subject& subject : subjects_) {
    subject.talks.clear();
    subject.skipped.clear();
    subject.out.clear();
    if (subject.context > 0 && subject.context < depth + room(depth)) {
      subject.out = fmt::format("its context is {} tokens, {} and the questions need {}",
                                subject.context, tokens_text(depth), depth + room(depth));
    }
  }
}

void Runner::carry_out(const Task& task, std::size_t index, RunResult& result) {
  int order = 0;
  for (const std::size_t which : order_of(index, subjects_.size())) {
    if (!tools_.wait(0)) return;
    measure(subjects_[which], task, order++, result);
  }
}

std::string Runner::missing(const Subject& subject, const Task& task) const {
  const Lacks& lacks = subject.target->lacks();
  if (!subject.out.empty()) return subject.out;
  if (task.step == Step::restart_warm) return lacks.restart;
  if (task.step == Step::restart_cold) {
    return lacks.restart.empty() ? lacks.cold_files : lacks.restart;
  }
  return task.step == Step::write ? lacks.stored_bytes : std::string();
}

void Runner::measure(Subject& subject, const Task& task, int order, RunResult& result) {
  Measurement measured;
  const std::string why = missing(subject, task);
  if (!why.empty()) {
    if (!subject.skipped.insert(task.step).second || !task.recorded) return;
    measured.missing = why;
  } else {
    if (expected(subject, task) > kLong) settle();
    const Micros began = tools_.clock.now();
    measured = perform(subject, task);
    const double took = to_ms(tools_.clock.now() - began);
    if (!tools_.wait(0) && !measured.measured()) return;  // the user's doing, no failure
    if (!measured.measured()) {
      result.failed = true;
      subject.out = measured.missing;
      subject.skipped.insert(task.step);
      tools_.say(fmt::format("{}, {} at {}: {}", subject.target->name(), step_title(task.step),
                             tokens_text(task.depth), measured.missing));
    } else if (task.begins) {
      costs_.cold(subject.target->name(), task.depth, took);
    } else {
      // What is added to every prediction is taken off.
      const Micros around =
          options_.pause + (task.step == Step::write ? 2 * options_.write_quiet : 0);
      costs_.other(subject.target->name(), task.step, task.depth,
                   std::max(1.0, took - to_ms(around)));
    }
    if (!task.recorded && measured.measured()) return;
  }
  measured.step = task.step;
  measured.depth = task.depth;
  measured.sessions = task.step == Step::sessions ? options_.sessions : 1;
  measured.round = std::max(task.round, 0);
  measured.order = order;
  measured.target = subject.target->name();
  result.measurements.push_back(std::move(measured));
}

void Runner::announce(std::size_t index) {
  const Task& first = tasks_[index];
  double ms = 0;
  int count = 0;
  for (std::size_t i = index;
       i < tasks_.size() && tasks_[i].step == first.step && tasks_[i].depth == first.depth; ++i) {
    ms += predicted(tasks_[i]);
    ++count;
  }
  tools_.say(fmt::format("{} at {}: {} {}, about {}", step_title(first.step),
                         tokens_text(first.depth), count, count == 1 ? "round" : "rounds",
                         clock_text(ms / 1000)));
}

double Runner::expected(const Subject& subject, const Task& task) const {
  return costs_.predict(subject.target->name(), task.begins ? Step::cold : task.step, task.depth);
}

double Runner::predicted(const Task& task) const {
  double ms = 0;
  for (const Subject& subject : subjects_) {
    if (!missing(subject, task).empty()) continue;
    ms += expected(subject, task) + to_ms(options_.pause);
    if (task.step == Step::write && !task.begins) ms += 2 * to_ms(options_.write_quiet);
  }
  return ms;
}

void Runner::show(std::size_t index) {
  const auto done = static_cast<std::uint64_t>(to_ms(tools_.clock.now() - began_));
  double left = 0;
  for (std::size_t i = index; i < tasks_.size(); ++i) left += predicted(tasks_[i]);
  const Task& now = tasks_[std::min(index, tasks_.size() - 1)];
  tools_.progress({fmt::format("{} at {}", step_title(now.step), tokens_text(now.depth)), done,
                   done + static_cast<std::uint64_t>(left)});
}

std::uint64_t Runner::seed_of(const Task& task, std::uint64_t what) const {
  const auto round = static_cast<std::uint64_t>(task.round) + 1;
  const auto session = static_cast<std::uint64_t>(task.session);
  const auto step = static_cast<std::uint64_t>(task.step);
  return mix_seed(mix_seed(options_.seed, static_cast<std::uint64_t>(task.depth), what),
                  round * 1000 + session, step);
}

}  // namespace samovar::bench
