// The parts of Pocket's training step that PyTorch does slowly: the core of a Gated DeltaNet
// layer (delta_net.h), and RMS norm and SwiGLU in one pass each.
//
// Loaded by kernel.py through ctypes: plain C names, dense arrays, one thread. Each function
// exists for float (training) and double (gradient checks), with the suffix _f32 and _f64.
#include "tools/pocket/delta_net.h"

namespace pocket {
namespace {

// --- RMS norm over rows of `size`, and SwiGLU ---

template <class Real>
Real inverse_rms(const Real* x, int size, Real epsilon) {
  Real sum = 0;
  for (int i = 0; i < size; ++i) sum += x[i] * x[i];
  return 1 / std::sqrt(sum / static_cast<Real>(size) + epsilon);
}

template <class Real>
void rms_norm(const Real* in, const Real* weight, Real* out, std::int64_t rows, int size,
              Real epsilon) {
  for (std::int64_t row = 0; row < rows; ++row, in += size, out += size) {
    const Real scale = inverse_rms(in, size, epsilon);
    for (int i = 0; i < size; ++i) out[i] = scale * in[i] * weight[i];
  }
}

template <class Real>
void rms_norm_backward(const Real* in, const Real* weight, const Real* grad, Real* grad_in,
                       Real* grad_weight, std::int64_t rows, int size, Real epsilon) {
  for (std::int64_t row = 0; row < rows; ++row, in += size, grad += size, grad_in += size) {
    const Real scale = inverse_rms(in, size, epsilon);
    Real along = 0;
    for (int i = 0; i < size; ++i) along += in[i] * grad[i] * weight[i];
    along *= scale * scale / static_cast<Real>(size);
    for (int i = 0; i < size; ++i) {
      grad_weight[i] += scale * in[i] * grad[i];
      grad_in[i] = scale * (grad[i] * weight[i] - along * in[i]);
    }
  }
}

// `in` is [rows][gate | up]; out = silu(gate) * up.
template <class Real>
void swiglu(const Real* in, Real* out, std::int64_t rows, int size) {
  for (std::int64_t row = 0; row < rows; ++row, in += 2 * size, out += size) {
    for (int i = 0; i < size; ++i) out[i] = silu(in[i]) * in[size + i];
  }
}

template <class Real>
void swiglu_backward(const Real* in, const Real* grad, Real* grad_in, std::int64_t rows, int size) {
  for (std::int64_t row = 0; row < rows; ++row, in += 2 * size, grad += size, grad_in += 2 * size) {
    for (int i = 0; i < size; ++i) {
      grad_in[i] = grad[i] * in[size + i] * silu_slope(in[i]);
      grad_in[size + i] = grad[i] * silu(in[i]);
    }
  }
}

}  // namespace
}  // namespace pocket

// grad_taps and grad_weight are added to: the caller passes zeros.
#define POCKET_KERNELS(Real, suffix)                                                               \
  extern "C" void delta_net_##suffix(const Real* in, const Real* taps, const Real* decays,         \
                                     const Real* betas, Real* out, int rows, int tokens,           \
                                     int heads) {                                                  \
    for (std::int64_t row = 0; row < rows; ++row) {                                                \
      const std::int64_t gates = row * tokens * heads;                                             \
      pocket::row_forward<Real>(in + 3 * pocket::kState * gates, taps, decays + gates,             \
                                betas + gates, out + pocket::kState * gates, tokens, heads);       \
    }                                                                                              \
  }                                                                                                \
  extern "C" void delta_net_backward_##suffix(                                                     \
      const Real* in, const Real* taps, const Real* decays, const Real* betas, const Real* grad,   \
      Real* grad_in, Real* grad_taps, Real* grad_decays, Real* grad_betas, int rows, int tokens,   \
      int heads) {                                                                                 \
    for (std::int64_t row = 0; row < rows; ++row) {                                                \
      const std::int64_t gates = row * tokens * heads;                                             \
      pocket::row_backward<Real>(in + 3 * pocket::kState * gates, taps, decays + gates,            \
                                 betas + gates, grad + pocket::kState * gates,                     \
                                 grad_in + 3 * pocket::kState * gates, grad_taps,                  \
                                 grad_decays + gates, grad_betas + gates, tokens, heads);          \
    }                                                                                              \
  }                                                                                                \
  extern "C" void rms_norm_##suffix(const Real* in, const Real* weight, Real* out,                 \
                                    std::int64_t rows, int size, double epsilon) {                 \
    pocket::rms_norm<Real>(in, weight, out, rows, size, static_cast<Real>(epsilon));               \
  }                                                                                                \
  extern "C" void rms_norm_backward_##suffix(const Real* in, const Real* weight, const Real* grad, \
                                             Real* grad_in, Real* grad_weight, std::int64_t rows,  \
                                             int size, double epsilon) {                           \
    pocket::rms_norm_backward<Real>(in, weight, grad, grad_in, grad_weight, rows, size,            \
                                    static_cast<Real>(epsilon));                                   \
  }                                                                                                \
  extern "C" void swiglu_##suffix(const Real* in, Real* out, std::int64_t rows, int size) {        \
    pocket::swiglu<Real>(in, out, rows, size);                                                     \
  }                                                                                                \
  extern "C" void swiglu_backward_##suffix(const Real* in, const Real* grad, Real* grad_in,        \
                                           std::int64_t rows, int size) {                          \
    pocket::swiglu_backward<Real>(in, grad, grad_in, rows, size);                                  \
  }

POCKET_KERNELS(float, f32)
POCKET_KERNELS(double, f64)
