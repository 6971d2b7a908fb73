// Goal: the official Anthropic library gets from /v1/messages what it gets from Anthropic.
// Method: as in openai.test.mjs.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import Anthropic, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { z } from 'zod';
import { call, longText, reply } from './script.mjs';
import { Server } from './server.mjs';

function client(server, options = {}) {
  return new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0, ...options });
}

function tool(name, properties) {
  return {
    name,
    description: `Runs ${name}`,
    input_schema: { type: 'object', properties, required: Object.keys(properties) },
  };
}

const weather = tool('weather', { city: { type: 'string' }, now: { type: 'boolean' } });
const clock = tool('clock', { hours: { type: 'integer' } });
const thinking = { type: 'adaptive' };
const ask = (content, rest = {}) => ({
  model: 'samovar',
  max_tokens: 16000,
  messages: [{ role: 'user', content }],
  ...rest,
});
const prompt = (usage) =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
const kinds = (message) => message.content.map((block) => block.type);

suite('anthropic: messages with a scripted model', () => {
  let server;
  let anthropic;

  before(async () => {
    server = await Server.start({
      rules: [
        {
          last: '21 degrees',
          reply: reply({ think: 'Warm.', text: 'It is 21 degrees in Paris.' }),
        },
        {
          last: 'Paris and in Rome',
          reply: reply({
            calls: [
              call('weather', { city: 'Paris', now: true }),
              call('weather', { city: 'Rome', now: false }),
            ],
          }),
        },
        {
          last: 'weather in Paris',
          reply: reply({
            think: 'I ask.',
            text: 'I look it up.',
            calls: [call('weather', { city: 'Paris', now: true })],
          }),
        },
        { last: 'What time', reply: reply({ calls: [call('clock', { hours: 12 })] }) },
        { last: 'as JSON', reply: '\n</think>\n\n{"name": "Ada", "age": 36}' },
        { last: 'count', reply: reply({ text: longText(3000) }) },
        { system: 'French', reply: reply({ think: 'French.', text: 'Bonjour' }) },
        { reply: reply({ think: 'Easy.', text: 'The capital is “Paris”. STOP It is old.' }) },
      ],
    });
    anthropic = client(server);
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('a message in one piece', async () => {
    const message = await anthropic.messages.create(ask('The capital of France?'));
    assert.equal(message.type, 'message');
    assert.equal(message.role, 'assistant');
    assert.match(message.id, /^msg_/);
    assert.deepEqual(kinds(message), ['text']);
    assert.equal(message.content[0].text, 'The capital is “Paris”. STOP It is old.');
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(message.stop_sequence, null);
    assert.ok(message.usage.output_tokens > 5);
  });

  test('the same message, streamed', async () => {
    const stream = anthropic.messages.stream(ask('The capital of France?', { thinking }));
    const events = [];
    let text = '';
    stream
      .on('streamEvent', (event) => events.push(event.type))
      .on('text', (piece) => {
        text += piece;
      });
    const message = await stream.finalMessage();
    assert.equal(events[0], 'message_start');
    assert.equal(events.at(-1), 'message_stop');
    assert.equal(events.filter((type) => type === 'content_block_start').length, 2);
    assert.deepEqual(kinds(message), ['thinking', 'text']);
    assert.equal(text, 'The capital is “Paris”. STOP It is old.');
    assert.equal(message.content[0].thinking.trim(), 'Easy.');
    assert.ok(message.content[0].signature.length > 0);
    assert.equal(message.stop_reason, 'end_turn');
  });

  test('stop sequences and limits end a message', async () => {
    const stopped = await anthropic.messages.create(
      ask('The capital?', { stop_sequences: [' STOP', 'none'] }),
    );
    assert.equal(stopped.content[0].text, 'The capital is “Paris”.');
    assert.equal(stopped.stop_reason, 'stop_sequence');
    assert.equal(stopped.stop_sequence, ' STOP');
    const cut = await anthropic.messages.create(ask('The capital?', { max_tokens: 4 }));
    assert.equal(cut.stop_reason, 'max_tokens');
    assert.equal(cut.usage.output_tokens, 4);
  });

  test('system: text or blocks, with cache_control', async () => {
    const cached = { cache_control: { type: 'ephemeral' } };
    for (const system of [
      'Speak French',
      [
        { type: 'text', text: 'Be terse.', ...cached },
        { type: 'text', text: 'Speak French', ...cached },
      ],
    ]) {
      const message = await anthropic.messages.create(
        ask([{ type: 'text', text: 'Hello', ...cached }], {
          system,
          tools: [{ ...clock, ...cached }],
          tool_choice: { type: 'none' },
        }),
      );
      assert.equal(message.content[0].text, 'Bonjour');
    }
  });

  test('one tool, its result, the answer; thinking goes round with its signature', async () => {
    for (const streamed of [false, true]) {
      const messages = [
        { role: 'user', content: `Run ${streamed}. What is the weather in Paris?` },
      ];
      const request = () => ({
        model: 'm',
        max_tokens: 4000,
        messages,
        tools: [weather],
        thinking,
      });
      const send = () =>
        streamed
          ? anthropic.messages.stream(request()).finalMessage()
          : anthropic.messages.create(request());
      const first = await send();
      assert.deepEqual(kinds(first), ['thinking', 'text', 'tool_use']);
      assert.equal(first.stop_reason, 'tool_use');
      const [, , use] = first.content;
      assert.equal(use.name, 'weather');
      assert.deepEqual(use.input, { city: 'Paris', now: true });
      messages.push(
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: use.id,
              content: [{ type: 'text', text: '21 degrees' }],
            },
          ],
        },
      );
      const second = await send();
      assert.equal(second.content.at(-1).text, 'It is 21 degrees in Paris.');
      assert.equal(second.stop_reason, 'end_turn');
      const sampled = first.usage.output_tokens;
      assert.ok(
        second.usage.cache_read_input_tokens >= prompt(first.usage) + sampled - 1,
        `${JSON.stringify(second.usage)} after ${JSON.stringify(first.usage)}`,
      );
    }
  });

  test('parallel calls, streamed, arrive apart', async () => {
    const stream = anthropic.messages.stream(
      ask('The weather in Paris and in Rome?', { tools: [weather] }),
    );
    const inputs = [];
    stream.on('contentBlock', (block) => inputs.push(block.input));
    const message = await stream.finalMessage();
    assert.deepEqual(inputs, [
      { city: 'Paris', now: true },
      { city: 'Rome', now: false },
    ]);
    assert.notEqual(message.content[0].id, message.content[1].id);
    const single = ask('The weather in Paris and in Rome?', {
      tools: [weather],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    await assert.rejects(anthropic.messages.create(single), { status: 500 });
  });

  test('tool_choice: any, tool, none', async () => {
    const request = (choice, text = 'What time is it?') =>
      ask(text, { tools: [weather, clock], tool_choice: choice });
    for (const choice of [{ type: 'any' }, { type: 'tool', name: 'clock' }]) {
      const message = await anthropic.messages.create(request(choice));
      assert.equal(message.stop_reason, 'tool_use');
      assert.deepEqual(message.content[0].input, { hours: 12 });
      // A model that does not call a required tool cannot end its reply.
      await assert.rejects(anthropic.messages.create(request(choice, 'Hello')), { status: 500 });
    }
    const other = request({ type: 'tool', name: 'weather' });
    await assert.rejects(anthropic.messages.create(other), { status: 500 });
    const none = await anthropic.messages.create(request({ type: 'none' }, 'Hello'));
    assert.deepEqual(kinds(none), ['text']);
  });

  test('the library’s tool runner goes round the loop by itself', async () => {
    for (const stream of [false, true]) {
      const asked = [];
      const runner = anthropic.beta.messages.toolRunner({
        model: 'm',
        max_tokens: 4000,
        stream, // asks for a thread first, and goes on without when told that there is none
        messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
        tools: [
          betaZodTool({
            name: 'weather',
            description: 'Weather',
            inputSchema: z.object({ city: z.string(), now: z.boolean() }),
            run: ({ city }) => {
              asked.push(city);
              return '21 degrees';
            },
          }),
        ],
      });
      const last = await runner.runUntilDone();
      assert.equal(last.content.at(-1).text, 'It is 21 degrees in Paris.');
      assert.deepEqual(asked, ['Paris']);
    }
  });

  test('output_config: JSON of a schema', async () => {
    const message = await anthropic.messages.create(
      ask('Ada as JSON', {
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              type: 'object',
              additionalProperties: false,
              properties: { name: { type: 'string' }, age: { type: 'integer' } },
              required: ['name', 'age'],
            },
          },
        },
      }),
    );
    assert.deepEqual(JSON.parse(message.content[0].text), { name: 'Ada', age: 36 });
  });

  test('usage: what was read from the cache, what was put there, and the rest', async () => {
    const first = await anthropic.messages.create(ask(`Remember ${longText(300)}`));
    const { usage } = first;
    assert.equal(usage.cache_read_input_tokens, 0);
    assert.ok(usage.cache_creation_input_tokens > 300 && usage.input_tokens < 20);
    const { input_tokens: counted } = await anthropic.messages.countTokens({
      model: 'm',
      messages: ask(`Remember ${longText(300)}`).messages,
    });
    assert.equal(counted, prompt(usage));
    const second = await anthropic.messages.create({
      ...ask(''),
      messages: [
        ...ask(`Remember ${longText(300)}`).messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: 'And now?' },
      ],
    });
    assert.ok(second.usage.cache_read_input_tokens >= usage.cache_creation_input_tokens);
    assert.ok(second.usage.cache_creation_input_tokens < 100);
  });

  test('count_tokens counts system and tools, too', async () => {
    const { messages } = ask('Hello');
    const bare = await anthropic.messages.countTokens({ model: 'm', messages });
    const more = await anthropic.messages.countTokens({
      model: 'm',
      messages,
      system: 'Be terse.',
      tools: [clock],
    });
    assert.ok(more.input_tokens > bare.input_tokens + 50);
  });

  test('an abort in mid-stream, then a follow-up in the same conversation', async () => {
    const { messages } = ask('Please count');
    const stream = anthropic.messages.stream({ model: 'm', max_tokens: 16000, messages });
    let text = '';
    stream.on('text', (piece) => {
      text += piece;
      if (text.includes('word20')) stream.abort();
    });
    await assert.rejects(stream.finalMessage(), APIUserAbortError);
    await server.idle();
    assert.equal((await server.turns())[0].status, 'incomplete');
    messages.push(
      { role: 'assistant', content: text },
      { role: 'user', content: 'Enough. The capital?' },
    );
    const next = await anthropic.messages.create({ model: 'm', max_tokens: 16000, messages });
    assert.equal(next.content[0].text, 'The capital is “Paris”. STOP It is old.');
  });
});

suite('anthropic: the product itself', () => {
  let server;
  let anthropic;
  const key = 'sk-a-key-of-the-test';

  before(async () => {
    server = await Server.start({
      options: ['--api-key', key, '-np', '1', '--queue', '1', '-c', '65536'],
    });
    anthropic = client(server, { apiKey: key });
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('the key is taken from either header', async () => {
    const request = ask('Hello', { max_tokens: 4 });
    assert.equal((await anthropic.messages.create(request)).usage.output_tokens, 4);
    const bearer = client(server, { apiKey: null, authToken: key });
    assert.equal((await bearer.messages.create(request)).usage.output_tokens, 4);
    await assert.rejects(
      client(server, { apiKey: 'wrong' }).messages.create(request),
      AuthenticationError,
    );
  });

  test('errors are the library’s classes, with what is wrong', async () => {
    const refused = async (request, type, status, name, text) => {
      await assert.rejects(anthropic.messages.create(request), (error) => {
        assert.ok(error instanceof type, `${error}`);
        assert.equal(error.status, status);
        assert.equal(error.error.type, 'error');
        assert.equal(error.error.error.type, name);
        assert.match(error.error.error.message, text);
        return true;
      });
    };
    await refused(
      ask('Hi', { temperature: -1 }),
      BadRequestError,
      400,
      'invalid_request_error',
      /temperature/,
    );
    await refused(
      { model: 'm', max_tokens: 9, messages: [] },
      BadRequestError,
      400,
      'invalid_request_error',
      /messages/,
    );
    await refused(
      ask('Hi', { tool_choice: { type: 'any' } }),
      BadRequestError,
      400,
      'invalid_request_error',
      /tool/,
    );
    await assert.rejects(anthropic.post('/v1/messages/nowhere', { body: {} }), NotFoundError);
  });

  test('a long wait for the first token is bridged by pings', async () => {
    // Behind a turn that computes, on a server that computes one at a time.
    const busy = new AbortController();
    await anthropic.messages.create(
      ask('Go on', { max_tokens: 60000, stream: true, ignore_eos: true }),
      { signal: busy.signal },
    );
    const stream = await anthropic.messages.create(ask('Me too', { max_tokens: 4, stream: true }));
    setTimeout(() => busy.abort(), 6000);
    const types = [];
    for await (const event of stream) types.push(event.type);
    assert.equal(types.filter((type) => type !== 'ping')[0], 'message_start');
    assert.equal(types.at(-1), 'message_stop');
    await server.idle();
  });

  test('a full queue is a RateLimitError', async () => {
    const busy = new AbortController();
    for (let i = 0; i < 2; ++i) {
      await anthropic.messages.create(
        ask('Go on', { max_tokens: 60000, stream: true, ignore_eos: true }),
        { signal: busy.signal },
      );
    }
    await assert.rejects(anthropic.messages.create(ask('Me too', { max_tokens: 1 })), (error) => {
      assert.ok(error instanceof RateLimitError || error.status === 529, `${error}`);
      assert.ok(Number(error.headers.get('retry-after')) > 0);
      return true;
    });
    busy.abort();
    await server.idle();
  });
});
