// The phases of a turn, in the order in which they happen, and the figures that are made of them.
import type { LiveTurn, Phase, PhaseTimes, TurnRecord } from './types';

export const phases: readonly Phase[] = ['render', 'queue', 'plan', 'restore', 'prefill', 'decode'];

export const meaning: Record<Phase, string> = {
  render: 'template and tokens of the prompt',
  queue: 'waiting for a place',
  plan: 'choosing what to reuse',
  restore: 'bringing computed state back',
  prefill: 'computing prompt tokens',
  decode: 'generating the reply',
};

/** What a long phase usually means, said where it took most of a slow turn. */
export const advice: Record<Phase, string> = {
  render: 'The template and tokeniser had much to do: the prompt is long and little of it was known.',
  queue: 'Other turns were being served. More places: -np.',
  plan: 'Looking for something to reuse took long. Many sessions are kept.',
  restore: 'Computed state came back from disk or host memory. It would have been computed anew otherwise, which takes longer.',
  prefill: 'Prompt tokens had to be computed.',
  decode: 'The reply is long, or tokens come slowly at this context.',
};

export function recordPhases(turn: TurnRecord): PhaseTimes {
  const t = turn.timings;
  return {
    render: t.render_ms,
    queue: t.queue_ms,
    plan: t.plan_ms,
    restore: t.restore_ms,
    prefill: t.prefill_ms,
    decode: t.decode_ms,
  };
}

/** The running phase goes on between two messages of the server. */
export function livePhases(turn: LiveTurn, sinceMs: number): PhaseTimes {
  const times = { plan: 0, ...turn.phases_ms };
  times[turn.phase] += sinceMs;
  return times;
}

export function total(times: PhaseTimes): number {
  return phases.reduce((sum, phase) => sum + times[phase], 0);
}

export function longest(times: PhaseTimes): Phase {
  return phases.reduce((best, phase) => (times[phase] > times[best] ? phase : best), 'render');
}

/** The first token comes out of the prefill, so n tokens take n - 1 steps of decode. */
export function decodeRate(turn: TurnRecord): number | null {
  const { decode_tokens, decode_ms } = turn.timings;
  return decode_tokens > 1 && decode_ms > 0 ? ((decode_tokens - 1) * 1000) / decode_ms : null;
}

export function prefillRate(turn: TurnRecord): number | null {
  const { computed_tokens, prefill_ms } = turn.timings;
  return computed_tokens > 0 && prefill_ms > 0 ? (computed_tokens * 1000) / prefill_ms : null;
}

/** `none` and `first_turn` are no misses. */
export function isMiss(className: string | undefined): boolean {
  return className !== undefined && className !== 'none' && className !== 'first_turn';
}

export function missed(turn: TurnRecord): boolean {
  return isMiss(turn.miss?.class);
}

/** How long a turn waited for its first token, or until it was cut without one. */
export function waited(turn: TurnRecord): number {
  return turn.timings.first_token_ms || total({ ...recordPhases(turn), decode: 0 });
}

/** Slow: three times the median wait for the first token of the listed turns, and two seconds at least. */
export function slowLimit(turns: TurnRecord[]): number {
  const waits = turns.filter((t) => t.timings.first_token_ms > 0).map((t) => t.timings.first_token_ms);
  return Math.max(2000, 3 * median(waits));
}

export function median(values: number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

/** The next 1, 2, 5, 10, … above, so that an axis does not change with every tick. */
export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  const step = [1, 2, 3, 5, 10].find((s) => s * power >= value) ?? 10;
  return step * power;
}
