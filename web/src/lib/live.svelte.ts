// Everything the page knows about the server, kept current: one stream of events, two lists that are
// asked for. One object for the whole page; the parts read it and never write.
import { ApiError, forgetKey, get, keepKey, key, open } from './api';
import { readEvents } from './sse';
import { isMiss } from './phases';
import type { LiveTurn, ServerState, Sessions, TurnRecord } from './types';

export type Connection = 'connecting' | 'live' | 'reconnecting' | 'key';

/** A live turn and when its last message came, on the clock of performance.now(). */
export type Watched = LiveTurn & { received: number };

const pageSize = 100;
const mostTurns = 2000; // a page may be open for weeks
const silenceMs = 40_000; // the server says something every 15 s
const waits = [500, 1000, 2000, 4000, 8000, 15_000];

class Live {
  connection = $state<Connection>('connecting');
  trouble = $state('');
  keyRefused = $state(false);
  state = $state.raw<ServerState | null>(null);
  running = $state.raw<Watched[]>([]);
  turns = $state.raw<TurnRecord[]>([]);
  turnsKnown = $state(false);
  moreTurns = $state(false);
  sessions = $state.raw<Sessions | null>(null);
  /** What a screen reader is told: connection and misses, nothing that ticks. */
  announcement = $state('');
  #failures = 0;
  #stop = new AbortController();
  #wake: () => void = () => undefined;
  #sessionsTimer: ReturnType<typeof setTimeout> | undefined;
  #sessionsAsked = 0;

  start(): () => void {
    void this.#run(this.#stop.signal);
    const retry = () => this.#wake();
    const refresh = setInterval(() => this.#refreshSoon(), 30_000);
    addEventListener('online', retry);
    document.addEventListener('visibilitychange', retry);
    return () => {
      this.#stop.abort();
      clearInterval(refresh);
      removeEventListener('online', retry);
      document.removeEventListener('visibilitychange', retry);
    };
  }

  useKey(value: string): void {
    keepKey(value);
    this.connection = 'connecting';
    this.#wake();
  }

  retryNow(): void {
    this.#wake();
  }

  async older(): Promise<void> {
    const last = this.turns.at(-1);
    if (!last) return;
    const more = await this.#page(`&before=${encodeURIComponent(last.id)}`);
    const known = new Set(this.turns.map((turn) => turn.id));
    this.turns = [...this.turns, ...more.filter((turn) => !known.has(turn.id))];
  }

  async #run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.#listen(stop);
        this.#lost('the stream ended');
      } catch (error) {
        if (stop.aborted) return;
        if (error instanceof ApiError && error.status === 401) {
          await this.#askForKey();
          continue;
        }
        this.#lost(error instanceof ApiError ? error.message : 'no answer from the server');
      }
      const wait = waits[Math.min(this.#failures++, waits.length - 1)] ?? 0;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #askForKey(): Promise<void> {
    this.keyRefused = key() !== '';
    forgetKey();
    this.connection = 'key';
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        if (key()) resolve();
      };
    });
  }

  #lost(why: string): void {
    if (this.connection === 'live') this.announcement = 'Connection lost, reconnecting';
    this.connection = 'reconnecting';
    this.trouble = why;
    this.running = [];
  }

  async #listen(stop: AbortSignal): Promise<void> {
    const silent = new AbortController();
    let watchdog = setTimeout(() => silent.abort(), silenceMs);
    try {
      const stream = await open('v1/samovar/events', AbortSignal.any([stop, silent.signal]));
      this.#wake = () => undefined;
      await this.#refresh();
      if (!stream.body) throw new Error('no body');
      for await (const { event, data } of readEvents(stream.body)) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => silent.abort(), silenceMs);
        this.#take(event, JSON.parse(data));
      }
    } finally {
      clearTimeout(watchdog);
      silent.abort(); // also ends a stream of which nobody reads any more
    }
  }

  #take(event: string, data: unknown): void {
    if (event === 'state') this.#takeState(data as ServerState);
    if (event === 'turn') this.#takeTurn(data as LiveTurn);
    if (event === 'ended') this.#takeEnded(data as TurnRecord);
  }

  #takeState(state: ServerState): void {
    if (this.connection !== 'live') {
      if (this.connection === 'reconnecting') this.announcement = 'Connected again';
      this.connection = 'live';
      this.trouble = '';
      this.#failures = 0;
    }
    const before = this.state;
    this.state = state;
    if (before?.store?.entries !== state.store?.entries || before?.store?.bytes !== state.store?.bytes) {
      this.#refreshSoon(); // something was written or evicted
    }
    const received = performance.now();
    this.running = state.turns.map((turn) => ({ ...turn, received }));
  }

  #takeTurn(turn: LiveTurn): void {
    const watched = { ...turn, received: performance.now() };
    const at = this.running.findIndex((other) => other.id === turn.id);
    this.running = at < 0 ? [...this.running, watched] : this.running.with(at, watched);
  }

  #takeEnded(turn: TurnRecord): void {
    this.running = this.running.filter((other) => other.id !== turn.id);
    const others = this.turns.filter((other) => other.id !== turn.id);
    this.turns = [turn, ...others.slice(0, mostTurns - 1)];
    this.moreTurns ||= others.length >= mostTurns;
    if (turn.miss && isMiss(turn.miss.class)) {
      this.announcement = `A turn of session ${turn.session} missed: ${turn.miss.title}`;
    }
    this.#refreshSoon();
  }

  async #refresh(): Promise<void> {
    this.turns = await this.#page('');
    this.turnsKnown = true;
    this.sessions = await get<Sessions>('v1/samovar/sessions');
  }

  async #page(more: string): Promise<TurnRecord[]> {
    const path = `v1/samovar/turns?limit=${pageSize}${more}`;
    const { data, has_more } = await get<{ data: TurnRecord[]; has_more: boolean }>(path);
    this.moreTurns = has_more;
    return data.filter((turn) => turn.status !== 'running');
  }

  /** Asks for sessions in a moment, and not more often than every two seconds. */
  #refreshSoon(): void {
    if (this.connection !== 'live' || this.#sessionsTimer !== undefined) return;
    const wait = Math.max(500, this.#sessionsAsked + 2000 - performance.now());
    this.#sessionsTimer = setTimeout(() => {
      this.#sessionsTimer = undefined;
      this.#sessionsAsked = performance.now();
      get<Sessions>('v1/samovar/sessions')
        .then((sessions) => (this.sessions = sessions))
        .catch(() => undefined); // the stream notices what is wrong with the server
    }, wait);
  }
}

export const live = new Live();
