// The parts of Pocket's training step that PyTorch does slowly: the core of a Gated DeltaNet layer
// (delta_net.h), and RMS norm and SwiGLU in one pass each.
//
// Loaded by kernel.py through ctypes: plain C names, dense arrays, one thread. Compiled for float
// (training) and, with POCKET_DOUBLE, for double (gradient checks). Gradients of taps and weights
// are added to: the caller passes zeros.
#include "tools/pocket/delta_net.h"

namespace {

#ifdef POCKET_DOUBLE
using Real = double;
#else
using Real = float;
#endif

// RMS norm of one row.

Real inverse_rms(const Real* x, int size, double epsilon) {
  Real sum = 0;
  for (int i = 0; i < size; ++i) sum += x[i] * x[i];
  return 1 / std::sqrt(sum / static_cast<Real>(size) + static_cast<Real>(epsilon));
}

void norm_row(const Real* in, const Real* weight, Real* out, int size, double epsilon) {
  const Real scale = inverse_rms(in, size, epsilon);
  for (int i = 0; i < size; ++i) out[i] = scale * in[i] * weight[i];
}

void norm_row_backward(const Real* in, const Real* weight, const Real* grad, Real* grad_in,
                       Real* grad_weight, int size, double epsilon) {
  const Real scale = inverse_rms(in, size, epsilon);
  Real along = 0;
  for (int i = 0; i < size; ++i) along += in[i] * grad[i] * weight[i];
  along *= scale * scale / static_cast<Real>(size);
  for (int i = 0; i < size; ++i) {
    grad_weight[i] += scale * in[i] * grad[i];
    grad_in[i] = scale * (grad[i] * weight[i] - along * in[i]);
  }
}

// Where row `row` begins in an array that has `size` values for each token of each head.
std::int64_t at(std::int64_t row, int tokens, int heads, int size) {
  return row * tokens * heads * size;
}

}  // namespace

using pocket::kState;

extern "C" void delta_net(const Real* in, const Real* taps, const Real* decays, const Real* betas,
                          Real* out, int rows, int tokens, int heads) {
  for (int row = 0; row < rows; ++row) {
    const std::int64_t gates = at(row, tokens, heads, 1);
    pocket::row_forward(in + at(row, tokens, heads, 3 * kState), taps, decays + gates,
                        betas + gates, out + at(row, tokens, heads, kState), tokens, heads);
  }
}

extern "C" void delta_net_backward(const Real* in, const Real* taps, const Real* decays,
                                   const Real* betas, const Real* grad, Real* grad_in,
                                   Real* grad_taps, Real* grad_decays, Real* grad_betas, int rows,
                                   int tokens, int heads) {
  for (int row = 0; row < rows; ++row) {
    const std::int64_t gates = at(row, tokens, heads, 1);
    const std::int64_t mixed = at(row, tokens, heads, 3 * kState);
    pocket::row_backward(in + mixed, taps, decays + gates, betas + gates,
                         grad + at(row, tokens, heads, kState), grad_in + mixed, grad_taps,
                         grad_decays + gates, grad_betas + gates, tokens, heads);
  }
}

extern "C" void rms_norm(const Real* in, const Real* weight, Real* out, std::int64_t rows, int size,
                         double epsilon) {
  for (std::int64_t row = 0; row < rows; ++row, in += size, out += size) {
    norm_row(in, weight, out, size, epsilon);
  }
}

extern "C" void rms_norm_backward(const Real* in, const Real* weight, const Real* grad,
                                  Real* grad_in, Real* grad_weight, std::int64_t rows, int size,
                                  double epsilon) {
  for (std::int64_t row = 0; row < rows; ++row, in += size, grad += size, grad_in += size) {
    norm_row_backward(in, weight, grad, grad_in, grad_weight, size, epsilon);
  }
}

// `in` is [rows][gate | up]; out = silu(gate) * up.
extern "C" void swiglu(const Real* in, Real* out, std::int64_t rows, int size) {
  for (std::int64_t row = 0; row < rows; ++row, in += std::int64_t{2} * size, out += size) {
    for (int i = 0; i < size; ++i) out[i] = pocket::silu(in[i]) * in[size + i];
  }
}

extern "C" void swiglu_backward(const Real* in, const Real* grad, Real* grad_in, std::int64_t rows,
                                int size) {
  for (std::int64_t row = 0; row < rows;
       ++row, in += std::int64_t{2} * size, grad += size, grad_in += std::int64_t{2} * size) {
    for (int i = 0; i < size; ++i) {
      grad_in[i] = grad[i] * in[size + i] * pocket::silu_slope(in[i]);
      grad_in[size + i] = grad[i] * pocket::silu(in[i]);
    }
  }
}
