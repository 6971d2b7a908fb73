// The core of a Gated DeltaNet layer, forward and backward: causal convolution, SiLU, l2 norm,
// delta rule. The arithmetic is that of llama.cpp's qwen35 graph. Arrays are dense, one row of
// the batch at a time; the backward pass computes what it needs anew instead of keeping it. Real
// is float (training) or double (gradient checks). No errors, no allocation beyond the call, any
// thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace pocket {

constexpr int kTaps = 4;    // of the convolution; the last one is the token itself
constexpr int kState = 32;  // size of a head's keys and values
constexpr int kChunk = 32;  // tokens whose states the backward pass holds at once
constexpr double kNormFloor = 1e-6;

template <class Real>
using Matrix = Real[kState][kState];  // a head's state: keys x values

// --- convolution, SiLU ---

// One row of the batch. `in` and `out` are [tokens][channels], `taps` is [channels][kTaps].
template <class Real>
void convolve(const Real* in, const Real* taps, Real* out, int tokens, int channels) {
  for (int t = 0; t < tokens; ++t) {
    Real* to = out + std::int64_t{t} * channels;
    std::fill(to, to + channels, Real{0});
    for (int tap = std::max(0, kTaps - 1 - t); tap < kTaps; ++tap) {
      const Real* from = in + std::int64_t{t + tap - (kTaps - 1)} * channels;
      for (int c = 0; c < channels; ++c) to[c] += taps[c * kTaps + tap] * from[c];
    }
  }
}

template <class Real>
void convolve_backward(const Real* in, const Real* taps, const Real* grad, Real* grad_in,
                       Real* grad_taps, int tokens, int channels) {
  std::fill(grad_in, grad_in + std::int64_t{tokens} * channels, Real{0});
  for (int t = 0; t < tokens; ++t) {
    const Real* g = grad + std::int64_t{t} * channels;
    for (int tap = std::max(0, kTaps - 1 - t); tap < kTaps; ++tap) {
      const std::int64_t at = std::int64_t{t + tap - (kTaps - 1)} * channels;
      for (int c = 0; c < channels; ++c) {
        grad_in[at + c] += taps[c * kTaps + tap] * g[c];
        grad_taps[c * kTaps + tap] += in[at + c] * g[c];
      }
    }
  }
}

template <class Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}

template <class Real>
Real silu(Real x) {
  return x * sigmoid(x);
}

template <class Real>
Real silu_slope(Real x) {
  const Real s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

// --- l2 norm of a head's q or k ---

template <class Real>
Real inverse_length(const Real* x) {
  Real sum = 0;
  for (int i = 0; i < kState; ++i) sum += x[i] * x[i];
  return 1 / std::max(std::sqrt(sum), static_cast<Real>(kNormFloor));
}

// `y` is the normalised vector; turns its gradient into that of the raw one.
template <class Real>
void l2_norm_backward(const Real* y, Real scale, Real* grad) {
  Real along = 0;
  for (int i = 0; i < kState; ++i) along += y[i] * grad[i];
  for (int i = 0; i < kState; ++i) grad[i] = scale * (grad[i] - along * y[i]);
}

// --- the delta rule of one head ---

// What one token brings: q and k normalised, q also scaled by 1 / sqrt(kState).
template <class Real>
struct Step {
  const Real* q;
  const Real* k;
  const Real* v;
  Real decay;  // exp of the log decay
  Real beta;
};

// decays `state`, writes the value that k recalled before this token into `recalled`, and stores
// the correction: state += k (beta (v - recalled))^T.
template <class Real>
void advance(Matrix<Real>& state, const Step<Real>& step, Real* recalled, Real* update) {
  Real sum[kState] = {};
  for (int i = 0; i < kState; ++i) {
    for (int j = 0; j < kState; ++j) {
      state[i][j] *= step.decay;
      sum[j] += step.k[i] * state[i][j];
    }
  }
  for (int j = 0; j < kState; ++j) {
    recalled[j] = sum[j];
    update[j] = step.beta * (step.v[j] - sum[j]);
  }
  for (int i = 0; i < kState; ++i) {
    for (int j = 0; j < kState; ++j) state[i][j] += step.k[i] * update[j];
  }
}

template <class Real>
void read(const Matrix<Real>& state, const Real* q, Real* out) {
  Real sum[kState] = {};
  for (int i = 0; i < kState; ++i) {
    for (int j = 0; j < kState; ++j) sum[j] += q[i] * state[i][j];
  }
  std::copy(sum, sum + kState, out);
}

// Gradients of one token of one head.
template <class Real>
struct StepGrad {
  Real q[kState];
  Real k[kState];
  Real v[kState];
  Real decay_log;
  Real beta;
};

// `grad` is the gradient of the state after the token and becomes that of the state before it.
// `before` is the state before the token, not yet decayed; `after` the one after it.
template <class Real>
void step_backward(const Matrix<Real>& before, const Matrix<Real>& after, const Step<Real>& step,
                   const Real* recalled, const Real* update, const Real* grad_out,
                   Matrix<Real>& grad, StepGrad<Real>& to) {
  Real grad_update[kState] = {};
  for (int i = 0; i < kState; ++i) {
    Real q_sum = 0;
    Real k_sum = 0;
    for (int j = 0; j < kState; ++j) {
      q_sum += after[i][j] * grad_out[j];
      grad[i][j] += step.q[i] * grad_out[j];
      k_sum += grad[i][j] * update[j];
      grad_update[j] += step.k[i] * grad[i][j];
    }
    to.q[i] = q_sum;
    to.k[i] = k_sum;
  }
  to.beta = 0;
  for (int j = 0; j < kState; ++j) {
    to.beta += grad_update[j] * (step.v[j] - recalled[j]);
    to.v[j] = step.beta * grad_update[j];
  }
  to.decay_log = 0;
  for (int i = 0; i < kState; ++i) {
    Real k_sum = 0;
    Real decay_sum = 0;
    for (int j = 0; j < kState; ++j) {
      const Real decayed = step.decay * before[i][j];
      k_sum -= decayed * to.v[j];
      grad[i][j] -= step.k[i] * to.v[j];
      decay_sum += grad[i][j] * decayed;
      grad[i][j] *= step.decay;
    }
    to.k[i] += k_sum;
    to.decay_log += decay_sum;
  }
}

// --- one row of the batch ---

// q, k, v of every token after convolution, SiLU and l2 norm, and the lengths they had.
template <class Real>
struct Mixed {
  std::vector<Real> raw;     // [tokens][channels], after the convolution
  std::vector<Real> ready;   // [tokens][channels], q scaled
  std::vector<Real> scales;  // [tokens][2 * heads]: 1 / length of q's and k's
};

template <class Real>
Mixed<Real> mix(const Real* in, const Real* taps, int tokens, int heads) {
  const int channels = 3 * heads * kState;
  const auto root = static_cast<Real>(1 / std::sqrt(double{kState}));
  Mixed<Real> mixed;
  mixed.raw.resize(static_cast<std::size_t>(tokens) * channels);
  mixed.ready.resize(mixed.raw.size());
  mixed.scales.resize(static_cast<std::size_t>(tokens) * 2 * heads);
  convolve(in, taps, mixed.raw.data(), tokens, channels);
  for (std::size_t i = 0; i < mixed.raw.size(); ++i) mixed.ready[i] = silu(mixed.raw[i]);
  for (int t = 0; t < tokens; ++t) {
    for (int part = 0; part < 2 * heads; ++part) {
      Real* x = mixed.ready.data() + std::int64_t{t} * channels + part * kState;
      const Real scale = inverse_length(x);
      mixed.scales[static_cast<std::size_t>(t) * 2 * heads + part] = scale;
      const Real factor = part < heads ? scale * root : scale;
      for (int i = 0; i < kState; ++i) x[i] *= factor;
    }
  }
  return mixed;
}

template <class Real>
Step<Real> step_at(const Real* ready, const Real* decays, const Real* betas, int t, int head,
                   int heads) {
  const Real* x = ready + std::int64_t{t} * 3 * heads * kState + head * kState;
  return {x, x + heads * kState, x + 2 * heads * kState, std::exp(decays[t * heads + head]),
          betas[t * heads + head]};
}

template <class Real>
void row_forward(const Real* in, const Real* taps, const Real* decays, const Real* betas, Real* out,
                 int tokens, int heads) {
  const Mixed<Real> mixed = mix(in, taps, tokens, heads);
  Real recalled[kState];
  Real update[kState];
  for (int head = 0; head < heads; ++head) {
    Matrix<Real> state = {};
    for (int t = 0; t < tokens; ++t) {
      const Step<Real> step = step_at(mixed.ready.data(), decays, betas, t, head, heads);
      advance(state, step, recalled, update);
      read(state, step.q, out + (std::int64_t{t} * heads + head) * kState);
    }
  }
}

template <class Real>
struct RowGrads {
  Real* decays;
  Real* betas;
  Real* ready;  // [tokens][channels]: of q (scaled), k and v
};

// States at the start of every chunk, then backwards chunk by chunk with all of a chunk's states.
template <class Real>
void head_backward(const Real* ready, const Real* decays, const Real* betas, const Real* grad_out,
                   const RowGrads<Real>& to, int tokens, int head, int heads) {
  const int chunks = (tokens + kChunk - 1) / kChunk;
  struct State {
    Matrix<Real> at;
  };
  std::vector<State> starts(static_cast<std::size_t>(chunks));
  std::vector<State> states(kChunk + 1);
  Real recalled[kChunk][kState];
  Real update[kChunk][kState];
  State state = {};
  for (int t = 0; t < tokens; ++t) {
    if (t % kChunk == 0) starts[static_cast<std::size_t>(t / kChunk)] = state;
    advance(state.at, step_at(ready, decays, betas, t, head, heads), recalled[0], update[0]);
  }
  Matrix<Real> grad = {};
  for (int chunk = chunks - 1; chunk >= 0; --chunk) {
    const int begin = chunk * kChunk;
    const int size = std::min(kChunk, tokens - begin);
    states[0] = starts[static_cast<std::size_t>(chunk)];
    for (int i = 0; i < size; ++i) {
      states[static_cast<std::size_t>(i) + 1] = states[static_cast<std::size_t>(i)];
      advance(states[static_cast<std::size_t>(i) + 1].at,
              step_at(ready, decays, betas, begin + i, head, heads), recalled[i], update[i]);
    }
    for (int i = size - 1; i >= 0; --i) {
      const int t = begin + i;
      StepGrad<Real> g = {};
      step_backward(states[static_cast<std::size_t>(i)].at,
                    states[static_cast<std::size_t>(i) + 1].at,
                    step_at(ready, decays, betas, t, head, heads), recalled[i], update[i],
                    grad_out + (std::int64_t{t} * heads + head) * kState, grad, g);
      to.decays[t * heads + head] = g.decay_log;
      to.betas[t * heads + head] = g.beta;
      Real* x = to.ready + std::int64_t{t} * 3 * heads * kState + head * kState;
      std::copy(g.q, g.q + kState, x);
      std::copy(g.k, g.k + kState, x + heads * kState);
      std::copy(g.v, g.v + kState, x + 2 * heads * kState);
    }
  }
}

template <class Real>
void row_backward(const Real* in, const Real* taps, const Real* decays, const Real* betas,
                  const Real* grad_out, Real* grad_in, Real* grad_taps, Real* grad_decays,
                  Real* grad_betas, int tokens, int heads) {
  const int channels = 3 * heads * kState;
  const auto root = static_cast<Real>(1 / std::sqrt(double{kState}));
  Mixed<Real> mixed = mix(in, taps, tokens, heads);
  std::vector<Real> grads(mixed.ready.size());
  for (int head = 0; head < heads; ++head) {
    head_backward(mixed.ready.data(), decays, betas, grad_out,
                  RowGrads<Real>{grad_decays, grad_betas, grads.data()}, tokens, head, heads);
  }
  for (int t = 0; t < tokens; ++t) {
    for (int part = 0; part < 2 * heads; ++part) {
      const std::int64_t at = std::int64_t{t} * channels + std::int64_t{part} * kState;
      Real* y = mixed.ready.data() + at;
      if (part < heads) {
        for (int i = 0; i < kState; ++i) {
          y[i] /= root;
          grads[static_cast<std::size_t>(at + i)] *= root;
        }
      }
      l2_norm_backward(y, mixed.scales[static_cast<std::size_t>(t) * 2 * heads + part],
                       grads.data() + at);
    }
  }
  for (std::size_t i = 0; i < grads.size(); ++i) grads[i] *= silu_slope(mixed.raw[i]);
  convolve_backward(in, taps, grads.data(), grad_in, grad_taps, tokens, channels);
}

}  // namespace pocket
