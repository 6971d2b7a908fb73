// Goal: the official OpenAI library gets from /v1/responses what it gets from OpenAI.
// Method: as in openai.test.mjs.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { call, longText, reply } from './script.mjs';
import { Server } from './server.mjs';

const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

suite('openai: responses', () => {
  let server;
  let openai;
  const ask = (input, rest = {}) => ({ model: 'samovar', input, ...rest });
  const calls = (response) => response.output.filter((item) => item.type === 'function_call');

  before(async () => {
    const paris = call('weather', { city: 'Paris' });
    const rome = call('weather', { city: 'Rome' });
    server = await Server.start({
      rules: [
        { last: '21 degrees', reply: reply({ think: 'Warm.', text: 'It is 21 degrees.' }) },
        { last: 'Paris and in Rome', reply: reply({ calls: [paris, rome] }) },
        { last: 'weather in Paris', reply: reply({ think: 'I ask.', calls: [paris] }) },
        { last: 'as JSON', reply: '\n</think>\n\n{"name": "Ada", "age": 36}' },
        { last: 'count', reply: reply({ text: longText(3000) }) },
        { user: 'second', replies: 1, reply: reply({ text: 'The second reply.' }) },
        { reply: reply({ think: 'Easy.', text: 'The capital is “Paris”.' }) },
      ],
    });
    openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('a response in one piece', async () => {
    const response = await openai.responses.create(ask('The capital of France?'));
    assert.equal(response.object, 'response');
    assert.equal(response.status, 'completed');
    assert.equal(response.output_text, 'The capital is “Paris”.');
    assert.ok(response.usage.input_tokens > 0 && response.usage.output_tokens > 5);
    const { usage } = response;
    assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
  });

  test('the same response, streamed', async () => {
    const stream = openai.responses.stream(ask('The capital of France?'));
    const types = [];
    let text = '';
    stream.on('event', (event) => types.push(event.type));
    stream.on('response.output_text.delta', (event) => {
      text += event.delta;
    });
    const response = await stream.finalResponse();
    assert.equal(types[0], 'response.created');
    assert.equal(types.at(-1), 'response.completed');
    assert.equal(text, 'The capital is “Paris”.');
    assert.equal(response.output_text, text);
  });

  test('calls, their results, the answer; whole or by the id of the response before', async () => {
    for (const kept of [false, true]) {
      const input = [{ role: 'user', content: `${kept}: what is the weather in Paris?` }];
      const first = await openai.responses.create(ask(input, { tools: [weather] }));
      const [toolCall] = calls(first);
      assert.equal(toolCall.name, 'weather');
      assert.deepEqual(JSON.parse(toolCall.arguments), { city: 'Paris' });
      const { call_id: id } = toolCall;
      const result = { type: 'function_call_output', call_id: id, output: '21 degrees' };
      const request = kept
        ? ask([result], { previous_response_id: first.id, tools: [weather] })
        : ask([...input, ...first.output, result], { tools: [weather], store: false });
      const second = await openai.responses.create(request);
      assert.equal(second.output_text, 'It is 21 degrees.');
      const { cached_tokens: cached } = second.usage.input_tokens_details;
      assert.ok(cached >= first.usage.input_tokens, `${cached} tokens reused`);
    }
  });

  test('parallel calls, streamed, arrive apart', async () => {
    const request = ask('The weather in Paris and in Rome?', { tools: [weather] });
    const response = await openai.responses.stream(request).finalResponse();
    const cities = calls(response).map((item) => JSON.parse(item.arguments).city);
    assert.deepEqual(cities, ['Paris', 'Rome']);
  });

  test('text.format: JSON of a schema, parsed', async () => {
    const schema = z.object({ name: z.string(), age: z.number() });
    const request = ask('Ada as JSON', { text: { format: zodTextFormat(schema, 'person') } });
    const response = await openai.responses.parse(request);
    assert.deepEqual(response.output_parsed, { name: 'Ada', age: 36 });
  });

  test('what is kept: retrieve, its input, going on, delete', async () => {
    const first = await openai.responses.create(ask('The first'));
    assert.equal((await openai.responses.retrieve(first.id)).output_text, first.output_text);
    const second = await openai.responses.create(
      ask('The second', { previous_response_id: first.id }),
    );
    assert.equal(second.output_text, 'The second reply.');
    const items = [];
    for await (const item of openai.responses.inputItems.list(second.id)) items.push(item.type);
    assert.ok(items.length > 0);
    await openai.responses.delete(first.id);
    await assert.rejects(openai.responses.retrieve(first.id), NotFoundError);
  });

  test('an abort in mid-stream, then a follow-up', async () => {
    const input = [{ role: 'user', content: 'Please count' }];
    const stream = await openai.responses.create(ask(input, { stream: true }));
    let text = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (text.includes('word20')) break;
    }
    await server.idle();
    assert.equal((await server.turns())[0].status, 'incomplete');
    input.push({ role: 'assistant', content: text }, { role: 'user', content: 'The capital?' });
    const next = await openai.responses.create(ask(input));
    assert.equal(next.output_text, 'The capital is “Paris”.');
  });

  test('errors are the library’s classes, with the field at fault', async () => {
    await assert.rejects(openai.responses.create(ask('Hi', { temperature: -1 })), (error) => {
      assert.ok(error instanceof BadRequestError, `${error}`);
      assert.equal(error.param, 'temperature');
      return true;
    });
    await assert.rejects(openai.responses.create(ask([])), BadRequestError);
    await assert.rejects(openai.responses.retrieve('resp_nowhere'), NotFoundError);
  });
});
