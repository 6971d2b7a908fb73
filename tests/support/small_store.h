// SmallStore: writes chains of small blobs into a store's folder, for tests of what deals with
// whole stores. Over any Fs; one thread. What cannot be written fails the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "fs/fs.h"
#include "store/store_folder.h"
#include "tests/support/blobs.h"
#include "tests/support/store_records.h"

namespace samovar::testing {

class SmallStore {
 public:
  static constexpr Position kTokens = 10;  // of a segment

  SmallStore(Fs& fs, const std::string& root) : fs_(fs), folder_(fs, root) {}

  // Where a prefix was cut.
  struct Node {
    Identity identity;
    Position end = 0;
  };
  struct Origin {
    Fingerprint model = model_named('m');
    SessionId session = session_of(1);
    std::string label = "tiny";
  };

  // A segment behind `parent` with a snapshot, if that is wanted. `seed` makes its tokens.
  Node add(const Origin& origin, const Node& parent, std::uint32_t seed, bool snapshot = true) {
    Blob blob = example_segment();
    BlobHeader& header = blob.header;
    header.model = origin.model;
    header.session = origin.session;
    header.label = origin.label;
    header.parent = parent.identity;
    header.begin = parent.end;
    header.end = parent.end + kTokens;
    header.tokens = random_tokens(seed, kTokens);
    header.identity = identity_of(header.model, header.parent, header.tokens);
    header.cost = 1000;
    write(blob);
    if (snapshot) {
      header.kind = BlobKind::snapshot;
      header.anchor = AnchorKind::history_end;
      write(blob);
    }
    return {header.identity, header.end};
  }

  // Of the model 'm'.
  [[nodiscard]] std::string path(const Node& node, BlobKind kind = BlobKind::segment) const {
    return folder_.blob_path(model_named('m'), {kind, node.identity});
  }

 private:
  void write(const Blob& blob) {
    const BlobHeader& header = blob.header;
    ASSERT_TRUE(folder_.prepare(&header.model));
    const auto file = fs_.create(folder_.blob_path(header.model, {header.kind, header.identity}));
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->write(file_of(blob)));
    ASSERT_TRUE((*file)->sync());
  }

  Fs& fs_;
  StoreFolder folder_;
};

}  // namespace samovar::testing
