#include "explain/tool_order.h"

#include <algorithm>

namespace samovar {

bool sort_tools(ChatRequest& request) {
  const auto by_name = [](const Tool& a, const Tool& b) { return a.name < b.name; };
  if (std::is_sorted(request.tools.begin(), request.tools.end(), by_name)) return false;
  std::stable_sort(request.tools.begin(), request.tools.end(), by_name);
  return true;
}

}  // namespace samovar
