// Starts servers for tests, each on a free loopback port and with a tiny model, and ends them by
// their process id. `build` holds samovar and samovar-scripted; SAMOVAR_BUILD names another folder.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const build = process.env.SAMOVAR_BUILD ?? join(root, 'build');
const model = join(root, 'build', 'models', 'tiny-qwen35moe.gguf');
const startSeconds = 120;
const endSeconds = 40;

export class Server {
  #child;
  #output = '';
  #ended;
  #folder;
  #key;
  url;

  // `rules`: the model says what they say (tests/scripted/script.h); without, its own gibberish.
  static async start({ rules, options = [] } = {}) {
    const server = new Server();
    server.#folder = await mkdtemp(join(tmpdir(), 'samovar-test-'));
    let command = [join(build, 'samovar'), 'serve'];
    if (rules) {
      const script = join(server.#folder, 'script.json');
      await writeFile(script, JSON.stringify({ rules }));
      command = [join(build, 'samovar-scripted'), script];
    }
    if (options.includes('--api-key')) server.#key = options[options.indexOf('--api-key') + 1];
    const shared = ['-m', model, '--port', '0', '-t', '1', '-tb', '1', '--anchor-memory', '256M'];
    if (!options.includes('--store-dir')) shared.push('--no-store');
    if (!options.includes('-c')) shared.push('-c', '16384');
    await server.#spawn([...command, ...shared, ...options]);
    return server;
  }

  async #spawn([program, ...words]) {
    this.#child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(String(error)));
      this.#child.once('close', (code, signal) => resolve(signal ?? code));
    });
    const serving = new Promise((resolve) => {
      const take = (bytes) => {
        this.#output += bytes;
        if (this.#output.includes('\nserving ')) resolve('serving');
      };
      this.#child.stdout.on('data', take);
      this.#child.stderr.on('data', take);
    });
    process.once('exit', () => this.#child.kill('SIGKILL')); // whatever ends the test ends it
    const outcome = await within(startSeconds, Promise.race([serving, this.#ended]));
    if (outcome !== 'serving') {
      await this.stop();
      throw new Error(`${program} does not serve (${outcome}):\n${this.#output}`);
    }
    this.url = /listening on (http:\S+)/.exec(this.#output)[1];
  }

  get output() {
    return this.#output;
  }

  // The newest turns, as the ledger has them.
  async turns(limit = 50) {
    const headers = this.#key ? { authorization: `Bearer ${this.#key}` } : {};
    const response = await fetch(`${this.url}/v1/samovar/turns?limit=${limit}`, { headers });
    return (await response.json()).data;
  }

  // Waits until no turn runs any more.
  async idle(seconds = 30) {
    const deadline = Date.now() + 1000 * seconds;
    while ((await this.turns()).some((turn) => turn.status === 'running')) {
      if (Date.now() > deadline) throw new Error(`a turn still runs:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  // Asks it to end; its exit code, or the signal that it took.
  async stop() {
    this.#child.kill('SIGTERM');
    if ((await within(endSeconds, this.#ended)) === undefined) this.#child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
    return this.#ended;
  }
}

async function within(seconds, promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(undefined), 1000 * seconds);
  });
  const outcome = await Promise.race([promise, late]);
  clearTimeout(timer);
  return outcome;
}
