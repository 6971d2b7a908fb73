// A server's data as the page's tests want it: plausible, the same every time, with every state that
// the page must show. The shapes are those of docs/page-api.md, docs/turns.md and docs/explain.md.
const GiB = 2 ** 30;
const MiB = 2 ** 20;

/** Numbers that look random and are the same in every run. */
export function numbers(seed = 1) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

const misses = {
  time_or_date: {
    title: 'A time or date in the system prompt changed',
    detail: 'The text there names the time at which it was made.',
    remedy:
      'Fix the time when the session starts, or give the date without the time of day. Everything behind it is computed again whenever it changes. Put it at the end of the newest user message instead.',
    first_difference: {
      token: 22, byte: 88, estimated: false, message: 0, role: 'system', field: 'content', tool: null,
      old: 'Current time: Monday, 30 November 2026, 07:12.\n\nYou are Pilot, a coding agent that works in a user',
      new: 'Current time: Monday, 30 November 2026, 07:14.\n\nYou are Pilot, a coding agent that works in a user',
    },
  },
  tool_order: {
    title: 'The tools came in another order',
    detail: 'They are the same tools as before; the first that stands elsewhere is the tool "run_command".',
    remedy:
      'Have the client send its tools in a fixed order, such as by name, or start the server with --sort-tools, which does that for every request.',
    first_difference: {
      token: 14, byte: 61, estimated: false, message: null, role: null, field: 'tools', tool: 'run_command',
      old: 'list_files, read_file, run_command', new: 'run_command, list_files, read_file',
    },
  },
  evicted: {
    title: 'It had to make room',
    detail: 'Its state left memory before it was on disk.',
    remedy: 'Give the store more room (--store-size) or snapshots more memory (--anchor-memory).',
    first_difference: null,
  },
  reply_missing: {
    title: 'The reply before messages[6] (user) is missing',
    detail: 'The turn before got a reply, probably an interrupted one, and the client dropped it.',
    remedy:
      'Have the client keep what it has received when it is interrupted, and send it as an assistant message before the next user message.',
    first_difference: {
      token: 649, byte: null, estimated: true, message: 6, role: 'user', field: null, tool: null, old: null, new: null,
    },
    kept_reply: 'chatcmpl-0001',
  },
};

export function miss(name, tokens, seconds) {
  if (!(name in misses)) {
    return {
      class: name, title: name === 'none' ? 'Nothing of note was computed again' : 'The first turn of its conversation',
      detail: '', remedy: '', tokens_lost: 0, estimated: false, seconds_lost: 0, first_difference: null, kept_reply: null,
    };
  }
  return {
    class: name, tokens_lost: tokens, estimated: name === 'reply_missing', seconds_lost: seconds, kept_reply: null,
    ...misses[name],
  };
}

export const hostile = '<img src=x onerror="window.hurt=1"><b>bold</b> & "quoted"';

const keys = ['pilot-refactor-parser', 'claude-3f9c21d4', 'docs-review', 'nightly-triage', hostile];

/** The turns, newest first. */
export function turns(count, now) {
  const random = numbers(7);
  return Array.from({ length: count }, (_, i) => {
    const age = i * 47 + Math.floor(random() * 20);
    const session = keys[Math.floor(random() * keys.length)];
    const prompt = Math.floor(4000 + 110_000 * random() ** 2);
    const special = { 1: 'time_or_date', 4: 'tool_order', 9: 'evicted', 13: 'reply_missing', 17: 'first_turn' }[i % 40];
    const lost = special && special !== 'first_turn' ? Math.floor(prompt * 0.7) : 0;
    const cut = i === 11; // left while it waited
    const computed = cut ? 0 : special ? prompt - Math.floor(prompt * 0.02) : Math.floor(60 + 900 * random());
    const reused = cut ? 0 : prompt - computed;
    const queue = cut ? 190_000 : i === 6 ? 14_200 : 3 + 9 * random();
    const reply = i === 3 || cut ? 0 : Math.floor(40 + 700 * random());
    const perSecond = (62 - prompt / 3200) * (0.92 + 0.16 * random());
    const source = special || cut ? 'none' : ['live', 'anchor', 'store', 'fork'][Math.floor(random() * 4)];
    const restore = source === 'store' ? 90 + prompt / 300 : 0;
    const prefill = (1000 * computed) / (410 + 60 * random());
    const render = 4 + prompt / 9000;
    const status = i === 3 ? 'failed' : i === 8 || cut ? 'incomplete' : 'complete';
    return {
      id: `chatcmpl-${String(count - i).padStart(4, '0')}`,
      object: 'samovar.turn',
      status,
      session,
      session_named_by_client: true,
      dialect: ['chat.completions', 'messages', 'responses'][i % 3],
      model: 'Qwen3.5-35B-A3B',
      created: now - age - 10,
      ended: now - age,
      finish_reason: status === 'complete' ? (i % 2 ? 'stop' : 'tool_calls') : null,
      error: status === 'failed' ? 'the grammar does not accept the reply so far' : null,
      continues: null,
      messages: 12 + i,
      tools: 9,
      usage: { prompt_tokens: prompt, completion_tokens: reply, total_tokens: prompt + reply },
      timings: {
        render_ms: render, queue_ms: queue, plan_ms: 0.4, restore_ms: restore,
        restore_bytes: restore ? prompt * 24_000 : 0, restore_read_ms: 0, restore_verify_ms: 0, restore_set_ms: 0,
        prefill_tokens: computed, prefill_ms: prefill, prefill_per_second: 430,
        first_token_ms: status === 'failed' || cut ? 0 : render + queue + 0.4 + restore + prefill,
        decode_tokens: reply, decode_ms: reply > 1 ? (1000 * (reply - 1)) / perSecond : 0, decode_per_second: perSecond,
        prompt_tokens: prompt, reused_tokens: reused, computed_tokens: computed,
        rewarmed_tokens: i % 5 === 2 && !special ? 420 : 0, matched_tokens: reused, source,
      },
      replayed_replies: 3, reasoning_restored: 0, neutralised: [], tool_order: null, text_kept: false,
      miss: miss(special ?? 'none', lost, lost / 430),
    };
  });
}

export function liveTurns(now) {
  const base = { dialect: 'chat.completions', background: false, created: now - 9, miss: null };
  return [
    {
      ...base, id: 'chatcmpl-live-a', session: 'pilot-refactor-parser', age_ms: 9400, phase: 'decode',
      prompt_tokens: 64_210, done_tokens: 64_210, reused_tokens: 63_900, computed_tokens: 310, reply_tokens: 271,
      source: 'live', phases_ms: { render: 12, queue: 4, restore: 0, prefill: 720, decode: 8664 },
    },
    {
      ...base, id: 'chatcmpl-live-b', session: 'claude-3f9c21d4', dialect: 'messages', age_ms: 21_300, phase: 'prefill',
      prompt_tokens: 48_012, done_tokens: 20_992, reused_tokens: 12_288, computed_tokens: 8704, reply_tokens: 0,
      source: 'store', phases_ms: { render: 31, queue: 1900, restore: 640, prefill: 18_729, decode: 0 },
      miss: { class: 'time_or_date', tokens_lost: 35_700, seconds_lost: 83.1 },
    },
    {
      ...base, id: 'chatcmpl-live-c', session: hostile, dialect: 'responses', background: true, age_ms: 3100, phase: 'queue',
      prompt_tokens: 9044, done_tokens: 0, reused_tokens: 0, computed_tokens: 0, reply_tokens: 0,
      source: null, phases_ms: { render: 6, queue: 3094, restore: 0, prefill: 0, decode: 0 },
    },
    {
      ...base, id: 'chatcmpl-live-d', session: 'docs-review', age_ms: 900, phase: 'restore',
      prompt_tokens: 18_600, done_tokens: 6144, reused_tokens: 0, computed_tokens: 0, reply_tokens: 0,
      source: null, phases_ms: { render: 6, queue: 14, restore: 880, prefill: 0, decode: 0 },
    },
  ];
}

export function state(now, live, { store = true, trouble = null } = {}) {
  return {
    object: 'samovar.state',
    server: {
      name: 'samovar', version: '0.1.0', started: now - 93_784, uptime_seconds: 93_784, ready: true,
      options: { '--ctx-size': '131072', '--parallel': '3' },
    },
    model: {
      id: 'Qwen3.5-35B-A3B-Q4_K_M', architecture: 'qwen35moe', context: 131_072, trained_context: 262_144,
      recurrent: true, sequences: 8, snapshot_bytes: 63 * MiB, token_bytes: 20_480,
    },
    queue: { waiting: live.length ? 1 : 0, running: live.length ? 3 : 0, parallel: 3, queue_max: 64 },
    cells: { used: live.length ? 118_310 : 0, total: 131_072 },
    memory: {
      rss_bytes: 24.6 * GiB, anchor_bytes: live.length ? 756 * MiB : 0, anchor_bytes_max: 2 * GiB, kv_bytes: 2.5 * GiB,
      recurrent_bytes: 504 * MiB, model_bytes: 20.2 * GiB,
    },
    store: store
      ? {
          online: true, trouble, folder: '/home/me/.cache/samovar/store', bytes: 61.4 * GiB, bytes_max: 128 * GiB,
          entries: 1840, bytes_written: 19 * GiB, bytes_written_today: 7.3 * GiB, writes_per_day: 200 * GiB,
          queued_bytes: 126 * MiB, bytes_read: 11 * GiB, restores: 214, restore_failures: 0, evicted: 37,
          superseded: 301, quarantined: 0, shed: 0, write_errors: trouble ? 3 : 0,
        }
      : null,
    turns: live,
  };
}

function disk(bytes, snapshot, checkpoint, hits, lastUsed, more = {}) {
  return {
    bytes, snapshot_bytes: snapshot * MiB, checkpoint, hits, last_used: lastUsed, pinned: false, writing: false,
    evict_rank: null, ...more,
  };
}

function memory(cells, sequences, ends, more = {}) {
  return {
    cells, bytes: cells * 20_480, sequences, ends, running: false, anchor: null, anchor_bytes: 0, ...more,
  };
}

/** A prefix tree: one system prompt that two sessions share, one session alone, many short ones. */
export function sessions(now, extra = 0) {
  const nodes = [
    { id: 'd:1', parent: null, begin: 0, end: 11_264, memory: memory(11_264, [0, 1], [], { running: true, anchor: 'system', anchor_bytes: 63 * MiB }),
      disk: disk(11_264 * 20_480, 63, 'system', 96, now - 40, { pinned: true }), sessions: ['pilot-refactor-parser', 'claude-3f9c21d4'] },
    { id: 'd:2', parent: 'd:1', begin: 11_264, end: 58_880, memory: memory(47_616, [0], [], { running: true }),
      disk: disk(47_616 * 20_480, 63, 'history_end', 31, now - 90), sessions: ['pilot-refactor-parser'] },
    { id: 's:0', parent: 'd:2', begin: 58_880, end: 64_481, memory: memory(5601, [0], [0], { running: true, anchor: 'reply_end', anchor_bytes: 63 * MiB }),
      disk: disk(3000 * 20_480, 0, null, 0, now - 12, { writing: true }), sessions: ['pilot-refactor-parser'] },
    { id: 'd:4', parent: 'd:2', begin: 58_880, end: 61_120, memory: null,
      disk: disk(2240 * 20_480, 63, 'reply_end', 2, now - 5400, { evict_rank: 1 }), sessions: ['pilot-refactor-parser'] },
    { id: 's:1', parent: 'd:1', begin: 11_264, end: 20_992, memory: memory(9728, [1], [1], { running: true, anchor: 'grid', anchor_bytes: 63 * MiB }),
      disk: disk(9728 * 20_480, 63, 'message', 12, now - 200), sessions: ['claude-3f9c21d4'] },
    { id: 'd:6', parent: 's:1', begin: 20_992, end: 47_104, memory: null,
      disk: disk(26_112 * 20_480, 63, 'history_end', 7, now - 260), sessions: ['claude-3f9c21d4'] },
    { id: 's:2', parent: null, begin: 0, end: 18_432, memory: memory(18_432, [2], [2], { anchor: 'reply_end', anchor_bytes: 63 * MiB }),
      disk: disk(18_432 * 20_480, 63, 'reply_end', 4, now - 900), sessions: ['docs-review'] },
    { id: 'd:8', parent: null, begin: 0, end: 9000, memory: null,
      disk: disk(9000 * 20_480, 63, 'reply_end', 0, now - 86_400 * 3, { evict_rank: 2 }), sessions: [hostile] },
  ];
  for (let i = 0; i < extra; ++i) {
    nodes.push({ id: `d:x${i}`, parent: i % 2 ? `d:x${i - 1}` : null, begin: i % 2 ? 2000 : 0, end: i % 2 ? 5000 : 2000, memory: null,
      disk: disk(2000 * 20_480, 63, 'reply_end', 1, now - 7000 - i), sessions: [`batch-${i >> 1}`] });
  }
  const sequence = (n, node, session, tokens, more) => ({
    sequence: n, node, session, tokens, running: false, rewarmed: false, last_used: now - 10, turns: 7, evict_rank: null, ...more,
  });
  const known = [
    ['pilot-refactor-parser', 41, 64_210, 12, 64_481, 61_120], ['claude-3f9c21d4', 17, 48_012, 20, 20_992, 47_104],
    ['docs-review', 9, 18_200, 900, 18_432, 18_432], ['nightly-triage', 3, 71_000, 9000, 0, 0],
    [hostile, 2, 9044, 86_400 * 3, 0, 9000],
  ];
  return {
    object: 'samovar.sessions',
    nodes,
    sequences: [
      sequence(0, 's:0', 'pilot-refactor-parser', 64_481, { running: true }),
      sequence(1, 's:1', 'claude-3f9c21d4', 20_992, { running: true }),
      sequence(2, 's:2', 'docs-review', 18_432, { rewarmed: true, evict_rank: 1 }),
    ],
    sessions: known.map(([session, turns, prompt, age, resident, stored]) => ({
      session, named_by_client: true, turns, prompt_tokens: prompt, last_turn: 'chatcmpl-0001', last_used: now - age,
      resident_tokens: resident, stored_tokens: stored,
    })),
    memory_evicts_next: 2,
    disk_evicts_next: ['d:4', 'd:8'],
    memory_known: true,
    truncated: false,
  };
}
