// Goal: the pool never exceeds its budget, uses memory again, and survives use from many threads.
// Method: addresses tell whether memory is the same.
#include "base/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace samovar {
namespace {

TEST(BufferPool, HoldsItsBudget) {
  const auto pool = BufferPool::create(100);
  EXPECT_EQ(pool->budget(), 100U);
  EXPECT_FALSE(pool->take(101));
  auto first = pool->take(60);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 60U);
  EXPECT_EQ(first->bytes().size(), 60U);
  EXPECT_EQ(pool->in_use(), 60U);
  EXPECT_FALSE(pool->take(41));
  auto second = pool->take(40);
  ASSERT_TRUE(second);
  EXPECT_FALSE(pool->take(1));
  EXPECT_TRUE(pool->take(0));
  first.reset();
  EXPECT_EQ(pool->in_use(), 40U);
  EXPECT_TRUE(pool->take(60));
}

TEST(BufferPool, UsesTheSameMemoryAgain) {
  const auto pool = BufferPool::create(1000);
  const std::uint8_t* address = nullptr;
  {
    auto buffer = pool->take(400);
    std::ranges::fill(buffer->writable(), 7);
    address = buffer->bytes().data();
  }
  const auto again = pool->take(300);  // a smaller one fits, too
  EXPECT_EQ(again->bytes().data(), address);
  EXPECT_EQ(again->size(), 300U);
  EXPECT_EQ(again->capacity(), 400U);
  EXPECT_EQ(again->bytes()[299], 7);
  EXPECT_EQ(pool->in_use(), 400U);
}

TEST(BufferPool, TakesTheSmallestThatFits) {
  const auto pool = BufferPool::create(1000);
  std::optional<Buffer> large = pool->take(400);
  std::optional<Buffer> small = pool->take(300);
  const std::uint8_t* address = small->bytes().data();
  large.reset();
  small.reset();
  EXPECT_EQ(pool->take(290)->bytes().data(), address);
}

TEST(BufferPool, DoesNotWasteALargeBufferOnASmallNeed) {
  const auto pool = BufferPool::create(1000);
  pool->take(900).reset();
  const auto small = pool->take(100);
  EXPECT_EQ(small->capacity(), 100U);
  EXPECT_EQ(pool->in_use(), 100U);
  EXPECT_TRUE(pool->take(900));
}

TEST(BufferPool, KeptBuffersThatAreTooSmallMakeRoom) {
  const auto pool = BufferPool::create(100);
  {
    const auto first = pool->take(50);
    const auto second = pool->take(50);
  }
  const auto whole = pool->take(100);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->capacity(), 100U);
  EXPECT_EQ(pool->in_use(), 100U);
}

TEST(BufferPool, WarmsUpWithinTotalAndBudget) {
  const auto pool = BufferPool::create(100'000);
  const auto used = pool->take(50'000);
  pool->warm_up(10'000, 20'000);
  EXPECT_EQ(pool->in_use(), 50'000U);
  const auto first = pool->take(10'000);
  const auto second = pool->take(10'000);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bytes()[4096], 0);  // touched
  EXPECT_EQ(second->bytes()[8192], 0);
  pool->warm_up(10'000, 1'000'000);  // stops at the budget
  pool->warm_up(0, 1'000'000);
  EXPECT_TRUE(pool->take(30'000));
}

TEST(BufferPool, NoMemoryIsNoBuffer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer ends the process instead";
#endif
  constexpr std::size_t kImpossible = std::size_t{1} << 62;
  const auto pool = BufferPool::create(kImpossible);
  EXPECT_FALSE(pool->take(kImpossible));
  pool->warm_up(kImpossible, kImpossible);
  EXPECT_EQ(pool->in_use(), 0U);
  EXPECT_TRUE(pool->take(10));
}

TEST(BufferPool, BuffersMoveAndResize) {
  const auto pool = BufferPool::create(100);
  Buffer buffer = std::move(*pool->take(40));
  const std::uint8_t* address = buffer.bytes().data();
  buffer.writable()[39] = 9;
  buffer.resize(10);
  EXPECT_EQ(buffer.bytes().size(), 10U);
  buffer.resize(40);
  EXPECT_EQ(buffer.bytes()[39], 9);

  Buffer other = std::move(buffer);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_EQ(other.bytes().data(), address);
  EXPECT_EQ(pool->in_use(), 40U);
  other = std::move(*pool->take(20));  // gives the first one back
  EXPECT_EQ(pool->in_use(), 20U);
  other = Buffer();
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(BufferPool, LivesAsLongAsItsLastBuffer) {
  auto pool = BufferPool::create(100);
  const std::weak_ptr<BufferPool> watch = pool;
  std::optional<Buffer> buffer = pool->take(10);
  pool.reset();
  EXPECT_FALSE(watch.expired());
  buffer->writable()[0] = 1;
  buffer.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(BufferPool, ManyThreads) {
  static constexpr std::size_t kBudget = 64 * 1024;
  const auto pool = BufferPool::create(kBudget);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] {
      std::mt19937 random(seed);
      std::vector<Buffer> held;
      for (int i = 0; i < 500; ++i) {
        if (auto buffer = pool->take(random() % 20'000)) {
          std::ranges::fill(buffer->writable(), static_cast<std::uint8_t>(seed));
          held.push_back(std::move(*buffer));
        }
        EXPECT_LE(pool->in_use(), kBudget);
        for (const Buffer& buffer : held) {
          EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [&](auto b) { return b == seed; }));
        }
        if (held.size() > 3 || random() % 3 == 0) held.clear();
        if (i % 100 == 0) pool->warm_up(1000, 5000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->in_use(), 0U);
  EXPECT_TRUE(pool->take(kBudget));
}

}  // namespace
}  // namespace samovar
