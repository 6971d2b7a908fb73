// Goal: Vercel's AI SDK, which agents such as opencode are built on, works with a provider that is
// nothing but a base URL: texts, streams, loops of tool calls, objects, aborts.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, isStepCount, Output, streamText, tool } from 'ai';
import { z } from 'zod';
import { call, longText, reply } from './script.mjs';
import { Server } from './server.mjs';

suite('@ai-sdk/openai-compatible', () => {
  let server;
  let model;

  before(async () => {
    server = await Server.start({
      rules: [
        {
          user: 'Tidy up',
          step: 0,
          reply: reply({ think: 'First I look.', calls: [call('list', {})] }),
        },
        {
          user: 'Tidy up',
          step: 1,
          last: 'b.txt',
          reply: reply({
            think: 'Two files.',
            text: 'I remove both.',
            calls: [
              call('remove', { name: 'a.txt', times: 1 }),
              call('remove', { name: 'b.txt', times: 2 }),
            ],
          }),
        },
        { user: 'Tidy up', step: 2, last: 'removed', reply: reply({ text: 'All tidy.' }) },
        { last: 'count', reply: reply({ text: longText(3000) }) },
        { last: 'object', reply: '\n</think>\n\n{"name": "Ada", "born": 1815}' },
        { reply: reply({ think: 'A greeting.', text: 'Hello, “you”!' }) },
      ],
    });
    const provider = createOpenAICompatible({
      name: 'samovar',
      baseURL: `${server.url}/v1`,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    model = provider('tiny');
  });
  after(async () => assert.equal(await server.stop(), 0));

  function tools(done) {
    return {
      list: tool({
        description: 'Lists files',
        inputSchema: z.object({}),
        execute: async () => {
          done.push('list');
          return ['a.txt', 'b.txt'];
        },
      }),
      remove: tool({
        description: 'Removes a file',
        inputSchema: z.object({ name: z.string(), times: z.number() }),
        execute: async ({ name, times }) => {
          done.push(`${name} ${times}`);
          return `removed ${name}`;
        },
      }),
    };
  }

  test('generateText: text, reasoning, usage', async () => {
    const result = await generateText({ model, prompt: 'Say hello' });
    assert.equal(result.text, 'Hello, “you”!');
    assert.equal(result.reasoningText.trim(), 'A greeting.');
    assert.equal(result.finishReason, 'stop');
    assert.ok(result.usage.inputTokens > 0 && result.usage.outputTokens > 0);
    const long = { model, prompt: `Say hello. ${longText(100)}` };
    await generateText(long);
    const again = await generateText(long);
    assert.ok(again.usage.inputTokenDetails.cacheReadTokens > 0);
  });

  test('streamText: the same, in parts and in order', async () => {
    const result = streamText({ model, prompt: 'Say hello', maxRetries: 0 });
    const parts = [];
    for await (const part of result.stream ?? result.fullStream) parts.push(part);
    const kinds = [...new Set(parts.map((part) => part.type))];
    assert.ok(kinds.indexOf('reasoning-delta') < kinds.indexOf('text-delta'), kinds.join());
    assert.ok(!kinds.includes('error'), kinds.join());
    assert.equal(await result.text, 'Hello, “you”!');
    assert.ok((await result.usage).outputTokens > 0);
  });

  test('a loop of three steps, with parallel calls, computes only what is new', async () => {
    for (const generate of [generateText, streamText]) {
      const done = [];
      const result = generate({
        model,
        prompt: `Tidy up, ${generate.name}`,
        tools: tools(done),
        stopWhen: isStepCount(5),
        maxRetries: 0,
      });
      const finished = await result;
      assert.equal(await finished.text, 'All tidy.');
      assert.deepEqual(done, ['list', 'a.txt 1', 'b.txt 2']);
      const steps = await finished.steps;
      assert.equal(steps.length, 3);
      for (let i = 1; i < steps.length; ++i) {
        const {
          inputTokens,
          inputTokenDetails: { cacheReadTokens },
        } = steps[i].usage;
        const before = steps[i - 1].usage;
        assert.ok(
          cacheReadTokens >= before.inputTokens,
          `step ${i}: ${cacheReadTokens} of ${inputTokens} reused`,
        );
      }
    }
  });

  test('an object, bound by its schema', async () => {
    const schema = z.object({ name: z.string(), born: z.number() });
    const request = { model, prompt: 'An object, please', output: Output.object({ schema }) };
    assert.deepEqual((await generateText(request)).output, { name: 'Ada', born: 1815 });
    assert.deepEqual(await streamText(request).output, { name: 'Ada', born: 1815 });
    const { object } = await generateObject({ model, prompt: request.prompt, schema });
    assert.deepEqual(object, { name: 'Ada', born: 1815 });
  });

  test('an abort ends the turn, and the conversation goes on', async () => {
    const controller = new AbortController();
    const result = streamText({
      model,
      prompt: 'Please count',
      abortSignal: controller.signal,
      onError() {},
    });
    let text = '';
    for await (const part of result.textStream) {
      text += part;
      if (text.includes('word20')) controller.abort();
    }
    await server.idle();
    assert.equal((await server.turns())[0].status, 'incomplete');
    const next = await generateText({
      model,
      messages: [
        { role: 'user', content: 'Please count' },
        { role: 'assistant', content: text },
        { role: 'user', content: 'Thank you' },
      ],
    });
    assert.equal(next.text, 'Hello, “you”!');
  });
});
