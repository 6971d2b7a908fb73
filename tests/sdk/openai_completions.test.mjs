// Goal: the official OpenAI library gets text that goes on from /v1/completions, as old clients and
// editors ask for it. Method: on the product itself; greedy, so that every request gets the same.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import OpenAI, { BadRequestError } from 'openai';
import { longText } from './script.mjs';
import { Server } from './server.mjs';

suite('openai: completions', () => {
  let server;
  let openai;
  const ask = (rest = {}) => ({
    model: 'm',
    prompt: 'The samovar is hot',
    max_tokens: 12,
    temperature: 0,
    ...rest,
  });

  before(async () => {
    server = await Server.start();
    openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('the same text in one piece and streamed', async () => {
    const whole = await openai.completions.create(ask());
    assert.equal(whole.object, 'text_completion');
    assert.equal(whole.choices[0].finish_reason, 'length');
    assert.equal(whole.usage.completion_tokens, 12);
    const request = ask({ stream: true, stream_options: { include_usage: true } });
    let text = '';
    let usage;
    for await (const chunk of await openai.completions.create(request)) {
      text += chunk.choices[0]?.text ?? '';
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, whole.choices[0].text);
    assert.equal(usage.completion_tokens, 12);
  });

  test('stop, echo, log probabilities', async () => {
    const { text } = (await openai.completions.create(ask())).choices[0];
    const stop = text.slice(text.length / 2, text.length / 2 + 3);
    const stopped = (await openai.completions.create(ask({ stop }))).choices[0];
    assert.equal(stopped.text, text.slice(0, text.indexOf(stop)));
    assert.equal(stopped.finish_reason, 'stop');
    const echoed = (await openai.completions.create(ask({ echo: true }))).choices[0];
    assert.equal(echoed.text, `The samovar is hot${text}`);
    const { logprobs } = (await openai.completions.create(ask({ logprobs: 2 }))).choices[0];
    assert.equal(logprobs.tokens.length, 12);
    assert.ok(logprobs.token_logprobs.every((value) => value <= 0));
  });

  // Text without messages is taken up again where a step of prefill ended (--ubatch-size).
  test('a longer text computes what was added, and less than a step', async () => {
    const prompt = longText(400);
    const first = await openai.completions.create(ask({ prompt }));
    const second = await openai.completions.create(ask({ prompt: `${prompt} and one more` }));
    const { cached_tokens: cached } = second.usage.prompt_tokens_details;
    assert.ok(cached >= first.usage.prompt_tokens - 512, `${cached} tokens reused`);
  });

  test('an abort in mid-stream ends the turn', async () => {
    const stream = await openai.completions.create(ask({ stream: true, max_tokens: 8000 }));
    for await (const chunk of stream) if (chunk.choices[0].text) break;
    await server.idle();
    assert.equal((await server.turns())[0].status, 'incomplete');
  });

  test('what is not served is refused by name', async () => {
    for (const [field, value] of [['suffix', 'x'], ['n', 2], ['best_of', 3]]) {
      const request = openai.completions.create(ask({ [field]: value }));
      await assert.rejects(request, (error) => {
        assert.ok(error instanceof BadRequestError, `${error}`);
        assert.equal(error.param, field);
        return true;
      });
    }
  });
});
