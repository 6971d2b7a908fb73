#include "tests/support/sim_fs.h"

#include <algorithm>
#include <utility>

namespace samovar {
namespace {

std::unexpected<FsError> refuse(FsFault fault, std::string reason = {}) {
  if (reason.empty()) reason = reason_of(fault);
  return std::unexpected(FsError{fault, std::move(reason)});
}

std::string name_of(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

DirEntry entry_of(std::string name, const SimNode& node) {
  return {.name = std::move(name),
          .directory = node.directory,
          .bytes = node.bytes.size(),
          .modified = node.modified};
}

std::string owner_in(const SimNode& file) {
  const auto end = std::find(file.bytes.begin(), file.bytes.end(), '\n');
  return end == file.bytes.begin() ? "another process" : std::string(file.bytes.begin(), end);
}

}  // namespace

class SimFs::Reader final : public FileReader {
 public:
  Reader(SimFs& fs, Handle file)
      : fs_(fs), file_(std::move(file)), size_(file_.node->bytes.size()) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  FsResult<std::size_t> read_at(std::uint64_t offset, MutableBytes into) override {
    return fs_.read(file_, offset, into);
  }

 private:
  SimFs& fs_;
  const Handle file_;
  const std::uint64_t size_;
};

class SimFs::Writer final : public FileWriter {
 public:
  Writer(SimFs& fs, Handle file) : fs_(fs), file_(std::move(file)) {}

  FsStatus write(Bytes bytes) override { return fs_.write(file_, bytes); }
  FsStatus sync() override { return fs_.sync(file_); }

 private:
  SimFs& fs_;
  const Handle file_;
};

class SimFs::Lock final : public FileLock {
 public:
  Lock(SimFs& fs, Handle file) : fs_(fs), file_(std::move(file)) {}
  ~Lock() override { fs_.unlock(file_); }

 private:
  SimFs& fs_;
  const Handle file_;
};

SimFs::SimFs(const FakeClock& clock, SimFsOptions options)
    : clock_(clock), options_(options), disk_(options.disk_bytes) {}

std::optional<FsFault> SimFs::refusal(const Call& call, std::optional<FsFault> by_hook) {
  const std::optional<SimFaults::Rule> rule = faults_.next(call.op);
  part_ = rule ? rule->part : std::nullopt;
  if (by_hook) return by_hook;
  if (call.handle != nullptr && call.handle->life != life_) return FsFault::io;
  if (rule && rule->fault) return rule->fault;
  if (read_only_ && changes_disk(call.op)) return FsFault::read_only;
  return std::nullopt;
}

template <class Body>
auto SimFs::perform(const Call& call, Body body) -> decltype(body()) {
  const auto fail = [&](FsError error) {
    const std::string about = call.path + (call.to.empty() ? "" : " to " + call.to);
    error.message = "cannot " + std::string(verb_of(call.op)) + " " + about + ": " + error.message;
    return std::unexpected(std::move(error));
  };
  Hook hook;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
  }
  const auto by_hook = hook ? hook(call.op, call.path, call.bytes) : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (const std::optional<FsFault> fault = refusal(call, by_hook)) {
    if (call.op == Op::sync && call.handle->life == life_) call.handle->node->sync_failed = true;
    return fail(FsError{*fault, std::string(reason_of(*fault))});
  }
  auto answer = body();
  if (!answer) return fail(std::move(answer.error()));
  return answer;
}

FsResult<std::unique_ptr<FileReader>> SimFs::open(const std::string& path) {
  return perform({Op::open, path}, [&]() -> FsResult<std::unique_ptr<FileReader>> {
    const SimNodePtr node = disk_.find(path);
    if (!node) return refuse(FsFault::not_found);
    if (node->directory) return refuse(FsFault::other, "Is a directory");
    return std::make_unique<Reader>(*this, Handle{node, path, life_});
  });
}

FsResult<std::unique_ptr<FileWriter>> SimFs::create(const std::string& path) {
  return perform({Op::create, path}, [&]() -> FsResult<std::unique_ptr<FileWriter>> {
    FsResult<SimNodePtr> node = disk_.create(path, false, clock_.wall_seconds());
    if (!node) return std::unexpected(node.error());
    return std::make_unique<Writer>(*this, Handle{*node, path, life_});
  });
}

FsStatus SimFs::rename(const std::string& from, const std::string& to) {
  return perform({.op = Op::rename, .path = from, .to = to},
                 [&] { return disk_.rename(from, to); });
}

FsStatus SimFs::remove(const std::string& path) {
  return perform({Op::remove, path}, [&] { return disk_.remove(path); });
}

FsStatus SimFs::touch(const std::string& path) {
  return perform({Op::touch, path}, [&]() -> FsStatus {
    const SimNodePtr node = disk_.find(path);
    if (!node) return refuse(FsFault::not_found);
    node->modified = clock_.wall_seconds();
    return {};
  });
}

FsStatus SimFs::make_directory(const std::string& path) {
  return perform({Op::make_directory, path}, [&]() -> FsStatus {
    const SimNodePtr node = disk_.find(path);
    if (read_only_ && !(node && node->directory)) return refuse(FsFault::read_only);
    return disk_.make_directory(path, clock_.wall_seconds());
  });
}

FsStatus SimFs::sync_directory(const std::string& path) {
  return perform({Op::sync_directory, path}, [&]() -> FsStatus {
    const SimNodePtr node = disk_.find(path);
    if (!node || !node->directory) return refuse(FsFault::not_found);
    if (read_only_ && !node->unsynced.empty()) return refuse(FsFault::read_only);
    SimDisk::sync_names(*node);
    spent_ += static_cast<double>(options_.sync_micros);
    return {};
  });
}

// Last name first: nobody may rely on an order.
FsResult<std::vector<DirEntry>> SimFs::list(const std::string& path, bool details) {
  return perform({Op::list, path}, [&]() -> FsResult<std::vector<DirEntry>> {
    const SimNodePtr node = disk_.find(path);
    if (!node || !node->directory) return refuse(FsFault::not_found);
    std::vector<DirEntry> entries;
    for (auto at = node->live.rbegin(); at != node->live.rend(); ++at) {
      entries.push_back(entry_of(at->first, *at->second));
      if (!details) entries.back().bytes = 0;
      if (!details) entries.back().modified = 0;
    }
    return entries;
  });
}

FsResult<DirEntry> SimFs::stat(const std::string& path) {
  return perform({Op::stat, path}, [&]() -> FsResult<DirEntry> {
    const SimNodePtr node = disk_.find(path);
    if (!node) return refuse(FsFault::not_found);
    return entry_of(name_of(path), *node);
  });
}

FsResult<FsSpace> SimFs::space(const std::string& path) {
  return perform({Op::space, path}, [&]() -> FsResult<FsSpace> {
    if (!disk_.find(path)) return refuse(FsFault::not_found);
    const std::uint64_t used = std::min(disk_.used(), disk_.capacity());
    return FsSpace{.free = disk_.capacity() - used, .total = disk_.capacity()};
  });
}

FsResult<std::unique_ptr<FileLock>> SimFs::lock(const std::string& path, const std::string& owner) {
  return perform({Op::lock, path}, [&]() -> FsResult<std::unique_ptr<FileLock>> {
    SimNodePtr node = disk_.find(path);
    if (!node) {
      FsResult<SimNodePtr> made = disk_.create(path, false, clock_.wall_seconds());
      if (!made) return std::unexpected(made.error());
      node = *made;
    }
    if (node->directory) return refuse(FsFault::other, "Is a directory");
    if (node->locked == life_) return refuse(FsFault::exists, owner_in(*node) + " holds it");
    node->locked = life_;
    const std::string line = owner + "\n";
    disk_.replace(*node, {reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
    return std::make_unique<Lock>(*this, Handle{node, path, life_});
  });
}

void SimFs::unlock(const Handle& file) {
  const std::lock_guard lock(mutex_);
  if (file.life != life_) return;
  file.node->locked = 0;
  disk_.truncate(*file.node, 0);
}

FsResult<std::size_t> SimFs::read(const Handle& file, std::uint64_t offset, MutableBytes into) {
  return perform(
      {.op = Op::read, .path = file.path, .handle = &file, .bytes = into.size()},
      [&]() -> FsResult<std::size_t> {
        const std::vector<std::uint8_t>& bytes = file.node->bytes;
        if (offset >= bytes.size()) return 0;
        const auto left = static_cast<std::size_t>(bytes.size() - offset);
        const std::size_t most = std::min(left, into.size());
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(most, part_.value_or(most)));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
        read_ += count;
        spent_ += options_.read_micros_per_byte * static_cast<double>(count);
        return count;
      });
}

FsStatus SimFs::write(const Handle& file, Bytes bytes) {
  return perform({.op = Op::write, .path = file.path, .handle = &file, .bytes = bytes.size()},
                 [&]() -> FsStatus {
                   const std::size_t asked = bytes.size();
                   const auto most = static_cast<std::size_t>(
                       std::min<std::uint64_t>(asked, part_.value_or(asked)));
                   const std::size_t stored = disk_.append(*file.node, bytes.first(most));
                   file.node->modified = clock_.wall_seconds();
                   written_ += stored;
                   spent_ += options_.write_micros_per_byte * static_cast<double>(stored);
                   if (part_ || stored < asked) return refuse(FsFault::full);
                   return {};
                 });
}

FsStatus SimFs::sync(const Handle& file) {
  return perform({.op = Op::sync, .path = file.path, .handle = &file}, [&]() -> FsStatus {
    SimDisk::sync_file(*file.node);
    spent_ += static_cast<double>(options_.sync_micros);
    return {};
  });
}

}  // namespace samovar
