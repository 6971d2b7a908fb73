#include "core/chat.h"

namespace samovar {

const char* to_string(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::developer:
      return "developer";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

}  // namespace samovar
