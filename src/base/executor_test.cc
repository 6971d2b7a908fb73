// Goal: jobs run in order, all of them, and nothing is left when the pool is gone. Method: real
// threads that wait for each other, never for time.
#include "base/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>

namespace samovar {
namespace {

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  {
    ThreadPool pool(1, "test");
    for (int i = 0; i < 100; ++i) pool.post([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(ThreadPool, RunsEverythingBeforeItJoins) {
  std::atomic<int> ran = 0;
  {
    ThreadPool pool(3, "a name that is far too long");
    std::latch open(1);
    for (int i = 0; i < 3; ++i) pool.post([&open] { open.wait(); });
    for (int i = 0; i < 50; ++i) {
      // A job posted by a job counts, too, even while the pool goes away.
      pool.post([&] {
        ++ran;
        pool.post([&ran] { ++ran; });
      });
    }
    open.count_down();
  }
  EXPECT_EQ(ran, 100);
}

TEST(ThreadPool, ThreadsRunAtTheSameTime) {
  ThreadPool pool(2, "test");
  std::latch both(2);  // one thread alone would wait for ever
  std::latch done(2);
  for (int i = 0; i < 2; ++i) {
    pool.post([&] {
      both.arrive_and_wait();
      done.count_down();
    });
  }
  done.wait();
}

TEST(ThreadPool, TakesJobsFromManyThreads) {
  std::atomic<int> ran = 0;
  {
    ThreadPool pool(2, "test");
    std::vector<std::thread> posters;
    for (int i = 0; i < 4; ++i) {
      posters.emplace_back([&] {
        for (int k = 0; k < 100; ++k) pool.post([&ran] { ++ran; });
      });
    }
    for (std::thread& poster : posters) poster.join();
  }
  EXPECT_EQ(ran, 400);
}

TEST(ThreadPool, JobsMayOwnWhatCannotBeCopied) {
  std::atomic<int> seen = 0;
  {
    ThreadPool pool(1, "test");
    pool.post([&seen, value = std::make_unique<int>(7)] { seen = *value; });
  }
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace samovar
