// The style of a report's page. A constant.
#pragma once

namespace samovar::bench {

extern const char* const kReportStyle;

}  // namespace samovar::bench
