#!/usr/bin/env bash
# Installs what the build needs, and with "test" what its tests use besides. On Debian and its kin: asks dpkg what is missing and only then calls
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

is_installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null || true)" = "install ok installed" ]; }

apt_install() {
  local as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "not root and no sudo. As root, run: apt-get install $*"
    as_root=sudo
  fi
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update -q || say "apt-get update failed; trying with the package lists as they are"
  $as_root apt-get install -y -q --no-install-recommends "$@" </dev/null
}

missing=""
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
command -v npm >/dev/null || missing="$missing npm"
if [ -z "$missing" ]; then
  say "nothing to install"
else
  say "installing:$missing"
  # shellcheck disable=SC2086 # a list of words
  apt_install $missing ||
    die "apt-get could not install:$missing. See its message above, then run this again"
fi

# A browser, for the tests of the page; without it they are left out.
if [ "${1:-}" = test ] && ! command -v chromium >/dev/null; then
  say "installing: chromium, for the tests of the page"
  apt_install chromium || say "chromium cannot be had: the tests of the page will be left out"
fi
