#include "bench/html_report.h"

namespace samovar::bench {

std::string html_of(const Report& report, const Reasons&) { return text_of(report); }

}  // namespace samovar::bench
