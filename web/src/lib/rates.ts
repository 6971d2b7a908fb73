// Decode rate against context: points from turns, and what is typical in each range of contexts.
import { decodeRate, median } from './phases';
import type { TurnRecord } from './types';

export interface Point {
  /** Tokens in the sequence when the reply ended: prompt and reply. */
  context: number;
  /** Tokens a second of decode alone. */
  rate: number;
  id: string;
}

export interface Bin {
  from: number;
  to: number;
  turns: number;
  median: number;
  lowest: number;
  highest: number;
}

/** Replies of fewer tokens say more about the clock than about the model. */
export const fewestTokens = 8;

export function points(turns: TurnRecord[]): Point[] {
  return turns
    .filter((turn) => turn.timings.decode_tokens >= fewestTokens)
    .flatMap((turn) => {
      const rate = decodeRate(turn);
      const context = turn.timings.prompt_tokens + turn.timings.decode_tokens;
      return rate === null ? [] : [{ context, rate, id: turn.id }];
    })
    .sort((a, b) => a.context - b.context);
}

/** At most eight ranges of the same width, 1, 2 or 5 times a power of ten; empty ones are left out. */
export function bins(all: Point[]): Bin[] {
  const last = all.at(-1)?.context ?? 0;
  if (last === 0) return [];
  const power = 10 ** Math.floor(Math.log10(last / 8));
  const width = [1, 2, 5, 10].map((by) => by * power).find((w) => last / w <= 8) ?? last;
  const result: Bin[] = [];
  for (let from = 0; from <= last; from += width) {
    const rates = all.filter((p) => p.context >= from && p.context < from + width).map((p) => p.rate);
    if (rates.length === 0) continue;
    result.push({
      from,
      to: from + width,
      turns: rates.length,
      median: median(rates),
      lowest: Math.min(...rates),
      highest: Math.max(...rates),
    });
  }
  return result;
}
