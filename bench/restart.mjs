// A follow-up after a restart: a conversation of about 0.9 x --tokens tokens is answered cold, followed up while
// resident, and followed up after clean restarts of the server, which bring it back from disk with the
// files in the page cache. Times are to the first piece of the reply, as the client sees them; the parts
// are the server's. Every follow-up goes on from the reply before it.
//
//   node bench/restart.mjs [--model FILE] [--tokens 35500] [--threads 2] [--rounds 5] [--store DIR]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const options = { model: 'build/models/small-qwen35moe.gguf', tokens: 35500, threads: 2, rounds: 5, port: 18476, store: '' };
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].slice(2)] = process.argv[i + 1];
const url = `http://127.0.0.1:${options.port}`;
const folder = options.store || mkdtempSync('/tmp/samovar-restart-');

async function start() {
  const server = spawn('build/samovar', ['serve', '-m', options.model, '-c', String(Number(options.tokens) + 8192),
    '-t', String(options.threads), '--sequences', '2', '-np', '1', '--port', String(options.port), '--store-dir', folder],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; ; tries++) {
    try { if ((await fetch(`${url}/ready`)).ok) return server; } catch {}
    if (tries > 600) throw new Error('the server did not start');
    await sleep(100);
  }
}
async function stop(server) {
  server.kill('SIGTERM');
  await new Promise((done) => server.on('exit', done));
}
// Time to the first piece, and the server's own figures.
async function ask(messages) {
  const began = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ messages, max_tokens: 4, temperature: 0, stream: true }),
  });
  if (!response.ok) throw new Error(await response.text());
  let first = 0, text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    if (!first && chunk.includes('data:')) first = performance.now() - began;
    text += chunk;
  }
  const pieces = text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
  const content = pieces.map((piece) => piece.choices?.[0]?.delta?.content ?? '').join('');
  const timings = JSON.parse(text.split('\n').filter((line) => line.includes('"timings"')).at(-1).slice(6)).timings;
  return { first, timings, content };
}
const words = (count, seed) => Array.from({ length: count }, (_, i) => `w${(i * 7919 + seed * 104729) % 9973}`).join(' ');
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const show = (name, runs) => {
  const t = runs.map((run) => run.first);
  console.log(`${name.padEnd(28)} ${median(t).toFixed(1).padStart(9)} ms (${Math.min(...t).toFixed(1)} to ${Math.max(...t).toFixed(1)}, n = ${t.length})`);
};

// Messages of about 500 tokens.
const history = [{ role: 'system', content: words(90, 0) }];
for (let i = 0; history.length * 500 < options.tokens; i++) {
  history.push({ role: i % 2 ? 'assistant' : 'user', content: words(90, i + 1) });
}
if (history.at(-1).role === 'user') history.push({ role: 'assistant', content: words(90, 9999) });
// The next question, four words as in peer/followup.mjs; the reply before it goes into the history.
let asked = 0;
async function followUp() {
  history.push({ role: 'user', content: `What about item ${asked++}?` });
  const run = await ask(history);
  history.push({ role: 'assistant', content: run.content });
  return run;
}

let server = await start();
try {
  const cold = await followUp();
  console.log(`${cold.timings.prompt_tokens} tokens, ${options.threads} threads, ${options.model}`);
  const resident = [];
  await followUp();
  for (let round = 0; round < options.rounds; round++) resident.push(await followUp());
  await sleep(4000);
  const restarted = [];
  for (let round = 0; round < options.rounds; round++) {
    await stop(server);
    server = await start();
    await sleep(500);
    restarted.push(await followUp());
  }
  show('cold', [cold]);
  show('follow-up, resident', resident);
  show('follow-up after a restart', restarted);
  const mid = (runs) => median(runs.map((run) => run.first));
  console.log(`cold / after a restart       ${(cold.first / mid(restarted)).toFixed(0)}`);
  console.log(`after a restart / resident   ${(mid(restarted) / mid(resident)).toFixed(2)}`);
  for (const run of restarted) {
    const t = run.timings;
    console.log(`  ${t.source}: ${t.reused_tokens} tokens restored, ${t.restore_bytes} bytes in ${t.restore_ms.toFixed(1)} ms (read ${t.restore_read_ms.toFixed(1)}, verify ${t.restore_verify_ms.toFixed(1)}, set ${t.restore_set_ms.toFixed(1)}); render ${t.render_ms.toFixed(1)}, plan ${t.plan_ms.toFixed(2)}, prefill of ${t.prefill_tokens} tokens ${t.prefill_ms.toFixed(1)} ms`);
  }
  for (const run of resident) {
    const t = run.timings;
    console.log(`  resident: ${t.source}, render ${t.render_ms.toFixed(1)}, restore ${t.restore_ms.toFixed(2)}, prefill of ${t.prefill_tokens} tokens ${t.prefill_ms.toFixed(1)} ms`);
  }
} finally {
  await stop(server);
  if (!options.store) rmSync(folder, { recursive: true, force: true });
}
