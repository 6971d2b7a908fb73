// Report: everything a run brought, and what it ran on. From it come the summary (summary.h) and
// all outputs. to_json() and report_of_json() are each other's inverse, but for the summary, which
// is written and not read. Values; any thread. Errors name the file's fault.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/measurement.h"
#include "bench/target.h"

namespace samovar::bench {

using Facts =
    std::vector<std::pair<std::string, std::string>>;  // in the order in which they are shown

struct ReportTarget {
  std::string name;
  TargetFacts facts;
};

struct Report {
  Facts conditions;                   // machine, build, options
  std::vector<ReportTarget> targets;  // the first one is compared with the second
  std::vector<Measurement> measurements;
  bool stopped = false;  // by the user, before its end
};

[[nodiscard]] std::string to_json(const Report& report);
[[nodiscard]] Result<Report> report_of_json(std::string_view text, const std::string& file);

// Measurements of several runs against targets of the same names; conditions and facts are the
// first one's, and what is different in others is added with the step that it holds for.
[[nodiscard]] Report merged(std::vector<Report> reports);

// One row a measurement, after a header; the server's own figures at the end.
[[nodiscard]] std::string to_csv(const Report& report);

}  // namespace samovar::bench
