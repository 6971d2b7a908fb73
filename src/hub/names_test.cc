// Goal: what users write and what files are called is read as they mean it. Method: tables.
#include <gtest/gtest.h>

#include "hub/cache_layout.h"
#include "hub/gguf_name.h"
#include "hub/hub_json.h"
#include "hub/partial_note.h"
#include "hub/repo_ref.h"

namespace samovar::hub {
namespace {

TEST(RepoRef, IsOwnerNameAndQuant) {
  const auto full = parse_repo_ref("unsloth/Qwen3.5-4B-GGUF:Q4_K_M", "--hf-repo");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->repo, "unsloth/Qwen3.5-4B-GGUF");
  EXPECT_EQ(full->quant, "Q4_K_M");
  EXPECT_EQ(parse_repo_ref("a/b", "")->quant, "");
  EXPECT_EQ(parse_repo_ref("a/b:UD-Q4_K_XL", "")->quant, "UD-Q4_K_XL");
}

TEST(RepoRef, RefusesWhatCouldLeaveTheCache) {
  for (const char* text : {"", "a", "a/", "/b", "a/b/c", "../b", "a/..", "a/b:", "a/b:x/y", "a b/c",
                           "https://huggingface.co/a/b", "a/.b", "-a/b", "a--b/c", "a/b:c:d"}) {
    const auto ref = parse_repo_ref(text, "--hf-repo");
    ASSERT_FALSE(ref) << text;
    EXPECT_EQ(ref.error().field, "--hf-repo");
    EXPECT_NE(ref.error().remedy.find("OWNER/NAME"), std::string::npos);
  }
}

TEST(SafePath, StaysBelowItsFolder) {
  for (const char* path : {"a.gguf", "a/b.gguf", "a/..b", ".hidden"})
    EXPECT_TRUE(is_safe_path(path));
  for (const char* path : {"", "/a", "a//b", "../a", "a/..", "a/../b", "a/", ".", "a\\b", "a\nb"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
}

TEST(GgufName, SplitsAreRecognised) {
  const auto split = parse_split("dir/x-Q8_0-00002-of-00003.gguf");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->prefix, "dir/x-Q8_0");
  EXPECT_EQ(split->part, 2);
  EXPECT_EQ(split->parts, 3);
  EXPECT_EQ(split->path_of(1), "dir/x-Q8_0-00001-of-00003.gguf");
  for (const char* path : {"x.gguf", "-00001-of-00002.gguf", "x-0001-of-0002.gguf",
                           "x-00003-of-00002.gguf", "x-00000-of-00002.gguf"}) {
    EXPECT_FALSE(parse_split(path)) << path;
  }
}

TEST(GgufName, QuantsAreFound) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"Qwen3.5-4B-Q4_K_M.gguf", "Q4_K_M"},
      {"qwen3.5-4b-q4_k_m.gguf", "Q4_K_M"},
      {"UD/Qwen-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"},
      {"model.Q8_0.gguf", "Q8_0"},
      {"model-IQ2_XXS.gguf", "IQ2_XXS"},
      {"gpt-oss-20b-mxfp4.gguf", "MXFP4"},
      {"model-BF16.gguf", "BF16"},
      {"model-f16.gguf", "F16"},
      {"Qwen3.5-4B.gguf", ""},
      {"model-Q4_K_M-imat.gguf", "Q4_K_M"},
      {"TQ1_0.gguf", "TQ1_0"},
  };
  for (const auto& [path, quant] : table) EXPECT_EQ(quant_of(path), quant) << path;
}

TEST(GgufName, QuantsMatchWholeWordsInAnyCase) {
  EXPECT_TRUE(has_quant("x-Q4_K_M.gguf", "q4_k_m"));
  EXPECT_TRUE(has_quant("x-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"));
  EXPECT_FALSE(has_quant("x-Q4_K_M.gguf", "Q4_K"));
  EXPECT_FALSE(has_quant("Q8_0/x-Q4_0.gguf", "Q8_0"));
}

TEST(GgufName, CompanionsAreNoModels) {
  EXPECT_TRUE(is_model_file("a/x-Q8_0.gguf"));
  for (const char* path : {"mmproj-F16.gguf", "x-mmproj-f16.gguf", "imatrix.gguf", "README.md",
                           ".gguf", "mtp-x-Q8_0.gguf", "x.gguf.part"}) {
    EXPECT_FALSE(is_model_file(path)) << path;
  }
}

TEST(CacheLayout, IsTheHubsOwn) {
  const CacheLayout layout("/c/hub/", "owner/my-model");
  EXPECT_EQ(layout.folder(), "/c/hub/models--owner--my-model");
  EXPECT_EQ(layout.main_ref(), "/c/hub/models--owner--my-model/refs/main");
  EXPECT_EQ(layout.blob("ab"), "/c/hub/models--owner--my-model/blobs/ab");
  EXPECT_EQ(layout.incomplete("ab"), "/c/hub/models--owner--my-model/blobs/ab.incomplete");
  EXPECT_EQ(layout.file("cc", "d/x.gguf"), "/c/hub/models--owner--my-model/snapshots/cc/d/x.gguf");
  EXPECT_EQ(layout.lock("ab"), "/c/hub/.locks/models--owner--my-model/ab.lock");
  EXPECT_EQ(link_target("x.gguf", "ab"), "../../blobs/ab");
  EXPECT_EQ(link_target("d/e/x.gguf", "ab"), "../../../../blobs/ab");
  EXPECT_EQ(blob_of_target("../../../blobs/ab"), "ab");
  EXPECT_EQ(blob_of_target("/blobs/ab"), std::nullopt);
  EXPECT_EQ(blob_of_target("../../blobs/a/b"), std::nullopt);
  EXPECT_EQ(repo_of_folder("models--owner--my-model"), "owner/my-model");
  EXPECT_EQ(repo_of_folder("datasets--a--b"), std::nullopt);
}

TEST(HubJson, ReadsCommitAndFiles) {
  const std::string sha(40, 'c');
  EXPECT_EQ(*commit_in(R"({"sha":")" + sha + R"(","x":1})"), sha);
  const std::string lfs(64, 'b');
  const auto files = files_in(R"([{"type":"directory","path":"d"},)"
                              R"({"type":"file","path":"d/x.gguf","oid":")" +
                              std::string(40, 'a') + R"(","size":9,"lfs":{"oid":")" + lfs +
                              R"(","size":9000000000}},)"
                              R"({"type":"file","path":"r.md","oid":")" +
                              std::string(40, 'a') + R"(","size":7}])");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0], (RepoFile{"d/x.gguf", lfs, 9'000'000'000, true}));
  EXPECT_FALSE((*files)[1].sha256);
}

// Goal: a hub that lies names no file outside the cache.
TEST(HubJson, LeavesOutWhatIsNotSafe) {
  for (const std::string entry :
       {R"("path":"../x.gguf","oid":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","size":1)",
        R"("path":"x.gguf","oid":"../../evil","size":1)", R"("path":"x.gguf","size":1)",
        R"("path":"x.gguf","oid":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","size":-1)",
        R"("path":7,"oid":7,"size":"7")"}) {
    const auto files = files_in("[{\"type\":\"file\"," + entry + "}]");
    ASSERT_TRUE(files);
    EXPECT_TRUE(files->empty()) << entry;
  }
}

TEST(HubJson, RefusesWhatIsNoAnswer) {
  EXPECT_FALSE(commit_in("<html>log in</html>"));
  EXPECT_FALSE(commit_in(R"({"sha":"../x"})"));
  EXPECT_FALSE(files_in(R"({"error":"x"})"));
}

TEST(PartialNote, ComesBackAsItWas) {
  const PartialNote note{"d/x.gguf", 9'000'000'000, "\"tag\""};
  EXPECT_EQ(parse_note(note_text(note)), note);
  EXPECT_EQ(parse_note("x\nmany\n\n"), std::nullopt);
  EXPECT_EQ(parse_note(""), std::nullopt);
}

}  // namespace
}  // namespace samovar::hub
