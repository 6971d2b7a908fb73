// A server that speaks docs/page-api.md with the data of data.mjs: the test double of the page's tests,
// with the same headers as the real one. `node mock.mjs PORT` serves it by hand.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as data from './data.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'web', 'dist');
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class Mock {
  #server;
  #streams = new Set();
  #listening = true;
  key;
  url;

  /** `turns`: how many have ended; `live`: whether some run; `nodes`: how many more the tree has. */
  static async start({ key = null, turns = 40, live = true, nodes = 0, empty = false, store = true, trouble = null, port = 0 } = {}) {
    const mock = new Mock();
    const now = Math.floor(Date.now() / 1000);
    mock.key = key;
    mock.now = now;
    mock.live = live && !empty ? data.liveTurns(now) : [];
    mock.turns = empty ? [] : data.turns(turns, now);
    mock.sessions = data.sessions(now, nodes);
    if (empty) Object.assign(mock.sessions, { nodes: [], sequences: [], sessions: [], memory_evicts_next: null, disk_evicts_next: [] });
    mock.state = () => data.state(now, mock.live, { store, trouble });
    mock.#server = createServer((request, response) => mock.#answer(request, response));
    await new Promise((resolve) => mock.#server.listen(port, '127.0.0.1', resolve));
    mock.url = `http://127.0.0.1:${mock.#server.address().port}/`;
    return mock;
  }

  async stop() {
    this.drop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Ends all streams and refuses new ones until `accept`. */
  drop() {
    this.#listening = false;
    for (const stream of this.#streams) stream.destroy();
  }

  accept() {
    this.#listening = true;
  }

  send(event, object) {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(object)}\n\n`);
  }

  /** An event in pieces of a few bytes, cut through characters and line ends, with a comment before it. */
  async dribble(event, object) {
    const bytes = Buffer.from(`: still here\r\n\r\nevent: ${event}\r\ndata: ${JSON.stringify(object)}\r\n\r\n`);
    for (let at = 0; at < bytes.length; at += 7) {
      for (const stream of this.#streams) stream.write(bytes.subarray(at, at + 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** A live turn ends as `record`. */
  end(record) {
    this.live = this.live.filter((turn) => turn.id !== record.id);
    this.turns = [record, ...this.turns];
    this.send('ended', record);
  }

  async #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, this.url);
    if (!pathname.startsWith('/v1/')) return this.#file(pathname, response);
    if (this.key && request.headers.authorization !== `Bearer ${this.key}`) {
      return json(response, 401, { error: { message: 'the API key is missing or wrong', type: 'authentication_error' } });
    }
    if (pathname === '/v1/samovar/state') return json(response, 200, this.state());
    if (pathname === '/v1/samovar/sessions') return json(response, 200, this.sessions);
    if (pathname === '/v1/samovar/events') return this.#stream(response);
    if (pathname === '/v1/samovar/turns') return json(response, 200, this.#page(searchParams));
    return this.#turn(pathname, response);
  }

  #page(query) {
    const limit = Number(query.get('limit') ?? 50);
    const from = query.has('before') ? this.turns.findIndex((turn) => turn.id === query.get('before')) + 1 : 0;
    const page = this.turns.slice(from, from + limit).map((turn) => ({ ...turn, miss: withoutTexts(turn.miss) }));
    return { object: 'list', data: page, has_more: from + limit < this.turns.length };
  }

  #turn(pathname, response) {
    const [, id, more] = /^\/v1\/samovar\/turns\/([^/]+)(\/explain)?$/.exec(pathname) ?? [];
    const turn = this.turns.find((other) => other.id === id);
    if (!turn) return json(response, 404, { error: { message: `there is no turn ${id}`, type: 'not_found_error' } });
    return json(response, 200, more ? { id, ...turn.miss } : { ...turn, miss: withoutTexts(turn.miss), reply: null, request: null });
  }

  #stream(response) {
    if (!this.#listening) {
      return json(response, 503, { error: { message: '16 clients listen already: close another page', type: 'overloaded_error' } });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(`event: state\ndata: ${JSON.stringify(this.state())}\n\n`);
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }

  async #file(pathname, response) {
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    const known = ['index.html', 'assets/page.js', 'assets/page.css'].includes(name);
    if (!known) return json(response, 404, { error: { message: `there is nothing at ${pathname}` } });
    response.writeHead(200, {
      'content-type': types[name.split('.').pop()],
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    response.end(await readFile(join(dist, name)));
  }
}

function json(response, status, object) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(object));
}

function withoutTexts(miss) {
  if (!miss?.first_difference) return miss;
  return { ...miss, first_difference: { ...miss.first_difference, old: null, new: null } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await Mock.start({ port: Number(process.argv[2] ?? 8099) });
  console.log(mock.url);
}
