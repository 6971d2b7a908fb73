# The doors to the project. Every target may be run again at any time and does only what is missing.
# Options of llama.cpp: SAMOVAR_LLAMA=auto|cpu|cuda|vulkan|metal|source|<folder>, see scripts/llama.sh.

SOURCES = git ls-files -co --exclude-standard '*.cc' '*.h'
CTEST = ctest --output-on-failure -j$(shell getconf _NPROCESSORS_ONLN)

.PHONY: help setup build models models-all pocket run demo test agents format lint asan tsan fuzz web clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## install the packages that the build needs (Debian: apt-get, as root or by sudo)
	@scripts/setup.sh

build: setup ## build/samovar and everything else
	@scripts/build.sh release

models: build ## the tiny test models, build/models/tiny-*.gguf
	@scripts/models.sh

models-all: build ## the larger ones too (about 1.2 GB)
	@scripts/models.sh all

pocket: build ## retrain Samovar's own model, models/pocket.gguf, (two and a half hours; needs python3-torch)
	@scripts/pocket.sh

run: build ## serve Pocket, show that it remembers over a restart, keep serving
	@scripts/demo.sh --stay

demo: build ## the same, then end; fails if it forgot or computed what was known
	@scripts/demo.sh

test: models ## the whole test suite
	@scripts/setup.sh test
	@$(CTEST) --test-dir build </dev/null

agents: models ## coding agents from npm (1.5 GB) do a task on a scripted server; AGENTS="pi qwen": only these
	@tests/agents/run.sh $(AGENTS)

format: ## format the sources in place
	@command -v clang-format-19 >/dev/null || { echo "clang-format-19 is missing: apt-get install clang-format-19" >&2; exit 1; }
	@$(SOURCES) | xargs clang-format-19 -i

lint: build ## clang-tidy and clang-format, no changes made
	@scripts/lint.sh

asan: models ## build and test with AddressSanitizer and UBSan, in build/asan
	@scripts/build.sh asan
	@ASAN_OPTIONS=detect_leaks=1 $(CTEST) --test-dir build/asan </dev/null

tsan: models ## build and test with ThreadSanitizer, in build/tsan
	@scripts/build.sh tsan
	@$(CTEST) --test-dir build/tsan </dev/null

fuzz: ## fuzz every reader of files and requests, FUZZ_SECONDS (60) each, in build/fuzz; needs clang-19
	@scripts/fuzz.sh all $(or $(FUZZ_SECONDS),60)

web: ## build the page again, web/dist (needs Node 20.19 or later; a C++ build does not)
	@scripts/web.sh

clean: ## remove build/ (the cache with llama.cpp stays)
	rm -rf build
