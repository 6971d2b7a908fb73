#!/usr/bin/env bash
# tests/agents/run.sh [AGENT...]: installs the pinned agents from the npm registry into build/agents
# (1.5 GB) and lets each of them work on a task against build/samovar-scripted (docs/agents.md).
# Agents: opencode qwen pi claude codex; without names, all.
# build/agents/AGENT.json has their requests, what they cost and why, and all they said.
set -euo pipefail
cd "$(dirname "$0")"
folder=../../build/agents

mkdir -p "$folder"
if ! cmp -s package-lock.json "$folder/.installed"; then
  cp package.json package-lock.json "$folder/"
  # Not npm ci: it wants every platform's binaries in the lock file, and not all of them are published.
  (cd "$folder" && npm install --no-audit --no-fund --loglevel=error)
  cp package-lock.json "$folder/.installed"
fi
node="$folder/node_modules/.bin/node"
[ -x "$node" ] || node=node
exec "$node" run.mjs "$(cd "$folder" && pwd)" "$@"
