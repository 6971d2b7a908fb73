// What is known of how agents behave, as distributions: quantiles that studies publish, and values
// between them along a straight line of logarithms. A draw depends on the generator only, not on
// the standard library. Pure.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace samovar::replay {

struct Quantile {
  double part = 0;  // of all values
  double value = 0;
};

// The value at a part between 0 and 1.
[[nodiscard]] double at_part(std::span<const Quantile> quantiles, double part);

// Tokens that a request appends to its history in a tool loop. TraceLab: median 793 and 796, 90 %
// 3.7k (Claude) and 6.1k (Codex), 99 % 12.8k.
[[nodiscard]] std::span<const Quantile> appended_tokens();

// Tokens that a message of a user has: TraceLab's 2.8 % of all appended tokens in one request of
// thirteen; the shape is an assumption.
[[nodiscard]] std::span<const Quantile> user_tokens();

// Seconds between a reply and the next request: 85.4 % within a minute, 94 % within five, 98.6 %
// within an hour (TraceLab, hits by time to live).
[[nodiscard]] std::span<const Quantile> gap_seconds();

// Tokens of a reply: an assumption.
[[nodiscard]] std::span<const Quantile> reply_tokens();

// A number from 0 up to 1.
[[nodiscard]] double uniform(std::mt19937_64& random);

// How often something happens whose average is `mean`: geometric, at least once.
[[nodiscard]] int geometric(std::mt19937_64& random, double mean);

// A part of gap_seconds() for a person, or for tools, whose mixture is that whole distribution when
// `people` is the part of requests that a person makes: people take their time from its upper end.
[[nodiscard]] double gap_part(std::mt19937_64& random, bool person, double people);

}  // namespace samovar::replay
