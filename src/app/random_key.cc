#include "app/random_key.h"

#include <cstdint>
#include <random>

namespace samovar::app {

std::string random_key() {
  std::random_device device;
  std::string key;
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t bits = device();
    key.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return key;
}

}  // namespace samovar::app
