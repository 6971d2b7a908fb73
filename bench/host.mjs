// What the server itself says a follow-up cost before the engine saw it (timings.render_ms: parsing,
// rendering, tokenising), for an agent's conversations of several sizes over HTTP: calls with
// reasoning and results, 25 tools. The first request of each size computes the whole prompt.
//
//   node bench/host.mjs [--model FILE] [--threads 2] [--rounds 11] [--sizes 40:10000,120:30000]
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const options = { model: 'build/models/tiny-qwen35moe.gguf', threads: 2, rounds: 11, port: 18477,
  sizes: '40:10000,120:30000,400:100000' };
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].slice(2)] = process.argv[i + 1];
const url = `http://127.0.0.1:${options.port}`;
const sizes = options.sizes.split(',').map((size) => size.split(':').map(Number));

async function start() {
  const cells = 2 * Math.max(...sizes.map(([, tokens]) => tokens)) + 65536;
  const server = spawn('build/samovar', ['serve', '-m', options.model, '-c', String(cells), '-t', String(options.threads),
    '--sequences', '2', '-np', '1', '--port', String(options.port), '--no-store'], { stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; ; tries++) {
    try { if ((await fetch(`${url}/ready`)).ok) return server; } catch {}
    if (tries > 600) throw new Error('the server did not start');
    await sleep(100);
  }
}
async function ask(body) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ ...body, max_tokens: 1, temperature: 0 }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).timings;
}
const word = ['the ', 'file ', 'returns ', 'value', '(x)\n', ' if ', 'error', '\t"a"', ' = ', 'table ', ', and ', '0x1f '];
let seed = 7;
const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 8;
const words = (tokens) => Array.from({ length: tokens / 2.3 }, () => word[next() % word.length]).join('');
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function session(messages, tokens) {
  const each = tokens / messages;
  const parameters = { type: 'object', properties: Object.fromEntries(['path', 'line', 'mode'].map((name) =>
    [name, { type: 'string', description: words(60) }])) };
  const body = { messages: [{ role: 'system', content: words(400) }], tools: Array.from({ length: 25 }, (_, i) =>
    ({ type: 'function', function: { name: `tool${i}`, description: words(150), parameters } })) };
  let calls = 0;
  const question = () => body.messages.push({ role: 'user', content: words(each / 2) });
  const grow = () => {
    if (++calls % 4 === 0) {
      body.messages.push({ role: 'assistant', content: words(each), reasoning_content: words(20) });
      return question();
    }
    const call = { id: `call${calls}`, type: 'function', function: { name: 'tool3', arguments: JSON.stringify({ path: words(8) }) } };
    body.messages.push({ role: 'assistant', content: '', reasoning_content: words(20), tool_calls: [call] });
    body.messages.push({ role: 'tool', tool_call_id: call.id, content: words(2 * each) });
  };
  question();
  while (body.messages.length < messages) grow();
  return { body, grow };
}

const server = await start();
try {
  for (const [messages, tokens] of sizes) {
    const { body, grow } = session(messages, tokens);
    const first = await ask(body);
    const runs = [];
    for (let round = 0; round < options.rounds; round++) {
      grow();
      runs.push(await ask(body));
    }
    const render = runs.map((run) => run.render_ms);
    const plan = runs.map((run) => run.plan_ms);
    console.log(`${first.prompt_tokens} tokens, ${messages} messages: render ${median(render).toFixed(2)} ms ` +
      `(${Math.min(...render).toFixed(2)} to ${Math.max(...render).toFixed(2)}, n = ${render.length}; first ${first.render_ms.toFixed(1)}), ` +
      `plan ${median(plan).toFixed(2)} ms`);
  }
} finally {
  server.kill('SIGTERM');
}
