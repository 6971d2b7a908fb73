#!/usr/bin/env bash
# Installs what the build needs. On Debian and its kin: asks dpkg what is missing and only then calls
# apt-get (as root, or through sudo). Elsewhere: says what to install. Idempotent.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }
die() {
  echo "setup: error: $*" >&2
  exit 1
}

packages="g++ cmake ninja-build git ccache openssl curl jq libspdlog-dev libfmt-dev libcli11-dev
  libssl-dev libsqlite3-dev libxxhash-dev libgtest-dev libgmock-dev librapidcheck-dev
  libcurl4-openssl-dev libedit-dev prometheus-cpp-dev"

# npm fetches llama.cpp and the client libraries that tests/sdk runs against the server.

if ! command -v dpkg-query >/dev/null; then
  missing=""
  for tool in c++ cmake ninja git openssl curl jq npm; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
  done
  [ -z "$missing" ] || die "this is not Debian; install these yourself:$missing." \
    "Libraries: spdlog, fmt, CLI11, OpenSSL, SQLite, xxHash, GoogleTest with gmock, RapidCheck, libcurl, libedit, prometheus-cpp"
  say "this is not Debian; the tools are here. Libraries: spdlog, fmt, CLI11, OpenSSL, SQLite, xxHash, GoogleTest with gmock, RapidCheck, libcurl, libedit, prometheus-cpp"
  exit 0
fi

missing=""
for package in $packages; do
  state="$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)"
  [ "$state" = "install ok installed" ] || missing="$missing $package"
done
command -v npm >/dev/null || missing="$missing npm"
if [ -z "$missing" ]; then
  say "nothing to install"
  exit 0
fi

say "installing:$missing"
as_root=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    die "not root and no sudo. As root, run: apt-get install$missing"
  as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q || say "apt-get update failed; trying with the package lists as they are"
# shellcheck disable=SC2086 # a list of words
$as_root apt-get install -y -q --no-install-recommends $missing </dev/null ||
  die "apt-get could not install:$missing. See its message above, then run this again"
