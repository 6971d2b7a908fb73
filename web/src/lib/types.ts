// What the server says: docs/page-api.md, docs/turns.md and docs/explain.md as types.
// Times are in the unit that the name ends with; `created`, `ended`, `last_used` are seconds since 1970.

export type Phase = 'render' | 'queue' | 'plan' | 'restore' | 'prefill' | 'decode';
export type PhaseTimes = Record<Phase, number>;
export type Source = 'none' | 'live' | 'anchor' | 'fork' | 'store';

/** Of a live turn: parsing and rendering are done when it appears, planning is part of the queue. */
export type LivePhase = Exclude<Phase, 'plan'>;

export interface LiveTurn {
  id: string;
  session: string;
  dialect: string;
  background: boolean;
  created: number;
  age_ms: number;
  phase: LivePhase;
  prompt_tokens: number;
  done_tokens: number;
  reused_tokens: number;
  computed_tokens: number;
  reply_tokens: number;
  source: Source | null;
  phases_ms: Record<LivePhase, number>;
  miss: { class: string; tokens_lost: number; seconds_lost: number | null } | null;
}

export interface ServerInfo {
  name: string;
  version: string;
  started: number;
  uptime_seconds: number;
  ready: boolean;
  options: Record<string, string>;
}

export interface ModelInfo {
  id: string;
  architecture: string;
  context: number;
  trained_context: number;
  recurrent: boolean;
  sequences: number;
  snapshot_bytes: number;
  token_bytes: number;
}

export interface Memory {
  rss_bytes: number;
  anchor_bytes: number;
  anchor_bytes_max: number;
  kv_bytes: number;
  recurrent_bytes: number;
  model_bytes: number;
}

export interface Store {
  online: boolean;
  trouble: string | null;
  folder: string;
  bytes: number;
  bytes_max: number;
  entries: number;
  bytes_written: number;
  bytes_written_today: number;
  writes_per_day: number;
  queued_bytes: number;
  bytes_read: number;
  restores: number;
  restore_failures: number;
  evicted: number;
  superseded: number;
  quarantined: number;
  shed: number;
  write_errors: number;
}

export interface ServerState {
  server: ServerInfo;
  model: ModelInfo;
  queue: { waiting: number; running: number; parallel: number; queue_max: number };
  cells: { used: number; total: number };
  memory: Memory;
  store: Store | null;
  turns: LiveTurn[];
}

/** The tokens from `begin` to `end` that follow those of the parent. */
export interface PrefixNode {
  id: string;
  parent: string | null;
  begin: number;
  end: number;
  memory: {
    cells: number;
    bytes: number;
    sequences: number[];
    ends: number[];
    running: boolean;
    anchor: string | null;
    anchor_bytes: number;
  } | null;
  disk: {
    bytes: number;
    snapshot_bytes: number;
    checkpoint: string | null;
    hits: number;
    last_used: number;
    pinned: boolean;
    writing: boolean;
    evict_rank: number | null;
  } | null;
  sessions: string[];
}

export interface Sequence {
  sequence: number;
  node: string | null;
  session: string | null;
  tokens: number;
  running: boolean;
  rewarmed: boolean;
  last_used: number;
  turns: number;
  evict_rank: number | null;
}

export interface SessionInfo {
  session: string;
  named_by_client: boolean;
  turns: number;
  prompt_tokens: number;
  last_turn: string | null;
  last_used: number;
  resident_tokens: number;
  stored_tokens: number;
}

export interface Sessions {
  nodes: PrefixNode[];
  sequences: Sequence[];
  sessions: SessionInfo[];
  memory_evicts_next: number | null;
  disk_evicts_next: string[];
  memory_known: boolean;
  truncated: boolean;
}

export interface FirstDifference {
  token: number | null;
  byte: number | null;
  estimated: boolean;
  message: number | null;
  role: string | null;
  field: string | null;
  tool: string | null;
  old: string | null;
  new: string | null;
}

export interface Explanation {
  class: string;
  title: string;
  detail: string;
  remedy: string;
  tokens_lost: number;
  estimated: boolean;
  seconds_lost: number | null;
  first_difference: FirstDifference | null;
  kept_reply: string | null;
}

export interface Timings {
  render_ms: number;
  queue_ms: number;
  plan_ms: number;
  restore_ms: number;
  restore_bytes: number;
  prefill_tokens: number;
  prefill_ms: number;
  first_token_ms: number;
  decode_tokens: number;
  decode_ms: number;
  prompt_tokens: number;
  reused_tokens: number;
  computed_tokens: number;
  rewarmed_tokens: number;
  source: Source;
}

export interface TurnRecord {
  id: string;
  status: 'running' | 'complete' | 'incomplete' | 'failed';
  session: string;
  session_named_by_client: boolean;
  dialect: string;
  model: string;
  created: number;
  ended: number | null;
  finish_reason: string | null;
  error: string | null;
  timings: Timings;
  miss: Explanation | null;
}
