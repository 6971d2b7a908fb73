// Time to first token of follow-ups on a long resident conversation: Samovar against llama-server, same
// model, same threads, same messages, in turn, so that noise hits both. Prints medians, spread, ratio.
//
//   node bench/peer/followup.mjs [--model FILE] [--tokens 60000] [--messages 120] [--rounds 7] [--words 4] [--threads 2]
//
// Both servers are started here, on loopback, and ended by their own process ids.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const options = { model: 'build/models/tiny-qwen35moe.gguf', tokens: 60000, messages: 120, rounds: 7, threads: 2, words: 4 };
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].slice(2)] = process.argv[i + 1];
const tokens = Number(options.tokens), messages = Number(options.messages), rounds = Number(options.rounds);
const context = String(Math.ceil((tokens * 1.3 + 8192) / 256) * 256);

const servers = [
  { name: 'samovar', port: 18471, command: 'build/samovar', args: ['serve', '-m', options.model, '-c', context, '-t', String(options.threads), '--port', '18471', '--no-store'], ready: '/ready' },
  { name: 'llama-server', port: 18472, command: 'build/peer/llama-server', args: ['-m', options.model, '-c', context, '-t', String(options.threads), '-ngl', '0', '--port', '18472'], ready: '/health' },
];

function prose(count, seed) {
  const words = 'the server keeps a file warm and reads every line of code until tests pass again with fewer tokens'.split(' ');
  let state = seed * 2654435761 >>> 0;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8;
  return Array.from({ length: count }, () => words[next() % words.length] + (next() % 5 ? '' : String(next() % 1000))).join(' ');
}

// Client-side milliseconds to the first piece of the reply.
async function firstToken(server, chat) {
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: chat, max_tokens: 4, temperature: 0, stream: true }),
  });
  if (!response.ok) throw new Error(`${server.name}: ${response.status} ${await response.text()}`);
  let at = 0, text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (!at && /"(content|reasoning_content)":"[^"]/.test(text)) at = performance.now() - began;
  }
  const computed = text.match(/"(?:prefill_tokens|prompt_n)":(\d+)/);
  return { ms: at || performance.now() - began, computed: computed ? Number(computed[1]) : NaN };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const show = (values) => `${median(values).toFixed(0)} ms (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;

const running = servers.map((server) => {
  const child = spawn(server.command, server.args, { stdio: 'ignore' });
  child.on('error', (error) => { console.error(`${server.command}: ${error.message}`); process.exit(1); });
  return child;
});
try {
  for (const server of servers) {
    for (let tries = 0; ; tries++) {
      try { if ((await fetch(`http://127.0.0.1:${server.port}${server.ready}`)).ok) break; } catch {}
      if (tries > 600) throw new Error(`${server.name} did not start`);
      await sleep(200);
    }
  }
  const each = Math.round((tokens * 0.62) / messages);  // about 1.6 tokens a word
  const chat = [{ role: 'system', content: prose(each * 4, 1) }];
  for (let i = 0; i < messages - 4; i++) chat.push({ role: i % 2 ? 'assistant' : 'user', content: prose(each, i + 2) });
  if (chat.at(-1).role === 'assistant') chat.push({ role: 'user', content: 'Where were we?' });
  // Each cold prompt is another one (a word at the start of the system prompt), twice, in either order.
  for (const [index, server] of [...servers, ...[...servers].reverse()].entries()) {
    chat[0].content = `Run ${index < 2 ? 1 : 2}. ` + prose(each * 4, 1);
    const cold = await firstToken(server, chat);
    console.log(`${server.name}: cold ${cold.ms.toFixed(0)} ms, ${cold.computed} tokens computed`);
    server.times = []; server.computed = [];
  }
  for (let round = 0; round < rounds; round++) {
    chat.push({ role: 'assistant', content: 'Understood.' }, { role: 'user', content: prose(Number(options.words), 900 + round) });
    for (const server of round % 2 ? [...servers].reverse() : servers) {
      await sleep(500);  // the other server's compute threads spin for a while after their last token
      const warm = await firstToken(server, chat);
      server.times.push(warm.ms); server.computed.push(warm.computed);
    }
  }
  for (const server of servers) console.log(`${server.name}: follow-up ${show(server.times)}, ${median(server.computed)} tokens computed`);
  const ratios = servers[0].times.map((time, i) => time / servers[1].times[i]);
  console.log(`ratio samovar / llama-server: ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}), ${rounds} rounds, ${messages} messages, questions of ${options.words} words, ${options.threads} threads, ${options.model}`);
} finally {
  running.forEach((child) => child.kill('SIGTERM'));
}
