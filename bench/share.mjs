// A running reply beside a long prefill: the reply's rate as a client sees it (wall time between the first
// and the last token), alone and while another session's prompt is computed.
//
//   node bench/share.mjs [--model FILE] [--tokens 30000] [--threads 2] [--share 0.6] [--reply 1500]
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const options = { model: 'build/models/tiny-qwen35moe.gguf', tokens: 30000, threads: 2, share: 0.6, reply: 1500, port: 18475 };
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].slice(2)] = process.argv[i + 1];
const url = `http://127.0.0.1:${options.port}`;

async function reply(chat, most, pieces) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: chat, max_tokens: most, temperature: 0, stream: true, logprobs: true }),
  });
  if (!response.ok) throw new Error(await response.text());
  // Tokens, not pieces: a piece may hold several. Each has its entry among the log probabilities.
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    for (const _ of chunk.matchAll(/"logprob":/g)) pieces.push(performance.now());
  }
}
const words = (count, seed) => Array.from({ length: count }, (_, i) => `w${(i * 7919 + seed * 104729) % 9973}`).join(' ');
const rate = (pieces) => (pieces.length - 1) / (pieces.at(-1) - pieces[0]) * 1000;

const server = spawn('build/samovar', ['serve', '-m', options.model, '-c', '65536', '-t', String(options.threads),
  '--no-store', '--port', String(options.port), '--decode-share', String(options.share)], { stdio: 'ignore' });
try {
  for (let tries = 0; ; tries++) {
    try { if ((await fetch(`${url}/ready`)).ok) break; } catch {}
    if (tries > 200) throw new Error('the server did not start');
    await sleep(100);
  }
  const chat = [{ role: 'user', content: words(300, 1) }];
  const alone = [];
  await reply(chat, Number(options.reply), alone);
  const beside = [], other = [];
  const talking = reply(chat, Number(options.reply), beside);
  while (beside.length < 20) await sleep(5);
  const began = performance.now();
  const prefill = reply([{ role: 'user', content: words(Math.round(options.tokens / 5.4), 2) }], 1, other);
  await Promise.race([talking, prefill]);
  const ended = performance.now();
  await Promise.all([talking, prefill]);
  const during = beside.filter((at) => at >= began && at <= ended);
  const ratio = rate(during) / rate(alone);
  console.log(`alone ${rate(alone).toFixed(0)} tokens/s, beside a prefill ${rate(during).toFixed(0)} tokens/s over ${((ended - began) / 1000).toFixed(1)} s, ratio ${ratio.toFixed(2)}`);
} finally {
  server.kill('SIGTERM');
}
