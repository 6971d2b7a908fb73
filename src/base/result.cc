#include "base/result.h"

namespace samovar {

std::string Error::describe() const {
  std::string text = message;
  if (!field.empty()) text += " (" + field + ")";
  if (!remedy.empty()) text += ". " + remedy;
  return text;
}

}  // namespace samovar
