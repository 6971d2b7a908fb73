// HubApi: asks a hub what a repository holds. Blocks, tries again where that may help; one thread.
// Errors as hub_errors.h.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hub/file_choice.h"
#include "hub/hub_tools.h"

namespace samovar::hub {

struct Listing {
  std::string commit;  // what "main" is now
  std::vector<RepoFile> files;
};

class HubApi {
 public:
  HubApi(const HubSettings& settings, const HubTools& tools) : settings_(settings), tools_(tools) {}

  // `tries`: as HubSettings::tries.
  [[nodiscard]] Result<Listing> list(const std::string& repo, int tries) const;

 private:
  struct Page {
    std::string body;
    std::string next;  // address of the next one; empty: none
  };
  [[nodiscard]] Result<Page> get(const std::string& url, const std::string& repo, int tries) const;
  [[nodiscard]] Result<Page> get_once(const std::string& url, const std::string& repo,
                                      std::string& retry_after) const;

  const HubSettings& settings_;
  const HubTools& tools_;
};

// The address of a file's content at a commit.
[[nodiscard]] std::string file_url(const HubSettings& settings, const std::string& repo,
                                   const std::string& commit, const std::string& path);

// A token is sent in the open only within this machine.
[[nodiscard]] Status check_endpoint(const HubSettings& settings);

}  // namespace samovar::hub
