// Goal: the official OpenAI library gets from /v1/chat/completions what it gets from OpenAI.
// Method: against a server whose model is scripted, so that what arrives is known, and against the
// product itself where any text will do.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import OpenAI, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { call, longText, reply } from './script.mjs';
import { Server } from './server.mjs';

function client(server, options = {}) {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0, ...options });
}

function tool(name, properties) {
  return {
    type: 'function',
    function: {
      name,
      description: `Runs ${name}`,
      parameters: {
        type: 'object',
        properties,
        required: Object.keys(properties),
      },
    },
  };
}

const weather = tool('weather', { city: { type: 'string' } });
const clock = tool('clock', { zone: { type: 'string' }, hours: { type: 'integer' } });
const ask = (content, rest = {}) => ({
  model: 'samovar',
  messages: [{ role: 'user', content }],
  ...rest,
});

suite('openai: chat completions with a scripted model', () => {
  let server;
  let openai;

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
            calls: [call('weather', { city: 'Paris' }), call('weather', { city: 'Rome' })],
          }),
        },
        {
          last: 'weather in Paris',
          reply: reply({
            think: 'I ask.',
            text: 'I look it up.',
            calls: [call('weather', { city: 'Paris' })],
          }),
        },
        { last: 'What time', reply: reply({ calls: [call('clock', { zone: 'UTC', hours: 12 })] }) },
        { last: 'as JSON', reply: '\n</think>\n\n{"name": "Ada", "age": 36}' },
        { last: 'count', reply: reply({ text: longText(3000) }) },
        { reply: reply({ think: 'Easy.', text: 'The capital is “Paris”. STOP It is old.' }) },
      ],
    });
    openai = client(server);
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('a reply in one piece', async () => {
    const completion = await openai.chat.completions.create(ask('The capital of France?'));
    assert.equal(completion.object, 'chat.completion');
    const [choice] = completion.choices;
    assert.equal(choice.message.role, 'assistant');
    assert.equal(choice.message.content, 'The capital is “Paris”. STOP It is old.');
    assert.equal(choice.message.reasoning_content.trim(), 'Easy.');
    assert.equal(choice.finish_reason, 'stop');
    const { usage } = completion;
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
    assert.ok(usage.completion_tokens > 5);
  });

  test('the same reply, streamed, with usage', async () => {
    const stream = await openai.chat.completions.create(
      ask('The capital of France?', { stream: true, stream_options: { include_usage: true } }),
    );
    let content = '';
    let usage;
    const reasons = [];
    for await (const chunk of stream) {
      assert.equal(chunk.object, 'chat.completion.chunk');
      content += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]?.finish_reason) reasons.push(chunk.choices[0].finish_reason);
      usage = chunk.usage ?? usage;
    }
    assert.equal(content, 'The capital is “Paris”. STOP It is old.');
    assert.deepEqual(reasons, ['stop']);
    assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0);
  });

  test('stop strings and limits end a reply', async () => {
    const stopped = await openai.chat.completions.create(ask('The capital?', { stop: [' STOP'] }));
    assert.equal(stopped.choices[0].message.content, 'The capital is “Paris”.');
    assert.equal(stopped.choices[0].finish_reason, 'stop');
    const cut = await openai.chat.completions.create(
      ask('The capital?', { max_completion_tokens: 8 }),
    );
    assert.equal(cut.choices[0].finish_reason, 'length');
    assert.equal(cut.usage.completion_tokens, 8);
  });

  test('one tool call, its result, the answer', async () => {
    const messages = [{ role: 'user', content: 'What is the weather in Paris?' }];
    const first = await openai.chat.completions.create({ model: 'm', messages, tools: [weather] });
    const [{ message, finish_reason: reason }] = first.choices;
    assert.equal(reason, 'tool_calls');
    assert.equal(message.content.trim(), 'I look it up.');
    assert.equal(message.tool_calls.length, 1);
    const [toolCall] = message.tool_calls;
    assert.equal(toolCall.type, 'function');
    assert.equal(toolCall.function.name, 'weather');
    assert.deepEqual(JSON.parse(toolCall.function.arguments), { city: 'Paris' });
    messages.push(message, { role: 'tool', tool_call_id: toolCall.id, content: '21 degrees' });
    const second = await openai.chat.completions.create({ model: 'm', messages, tools: [weather] });
    assert.equal(second.choices[0].message.content, 'It is 21 degrees in Paris.');
    assert.equal(second.choices[0].finish_reason, 'stop');
    const { cached_tokens: cached } = second.usage.prompt_tokens_details;
    assert.ok(cached >= first.usage.prompt_tokens, `${cached} tokens reused`);
  });

  test('parallel calls, streamed, arrive apart', async () => {
    const stream = openai.chat.completions.stream(
      ask('The weather in Paris and in Rome?', { tools: [weather] }),
    );
    const done = [];
    stream.on('tool_calls.function.arguments.done', (event) => done.push(event.arguments));
    const final = await stream.finalChatCompletion();
    assert.deepEqual(
      done.map((text) => JSON.parse(text)),
      [{ city: 'Paris' }, { city: 'Rome' }],
    );
    const calls = final.choices[0].message.tool_calls;
    assert.equal(calls.length, 2);
    assert.notEqual(calls[0].id, calls[1].id);
    assert.equal(final.choices[0].finish_reason, 'tool_calls');
  });

  test('parallel_tool_calls: false refuses a second call', async () => {
    const request = ask('The weather in Paris and in Rome?', {
      tools: [weather],
      parallel_tool_calls: false,
    });
    await assert.rejects(openai.chat.completions.create(request), { status: 500 });
  });

  test('tool_choice: named, required, none', async () => {
    const named = await openai.chat.completions.create(
      ask('What time is it?', {
        tools: [weather, clock],
        tool_choice: { type: 'function', function: { name: 'clock' } },
      }),
    );
    const [toolCall] = named.choices[0].message.tool_calls;
    assert.equal(toolCall.function.name, 'clock');
    assert.deepEqual(JSON.parse(toolCall.function.arguments), { zone: 'UTC', hours: 12 });
    const required = await openai.chat.completions.create(
      ask('What time is it?', {
        tools: [weather, clock],
        tool_choice: 'required',
      }),
    );
    assert.equal(required.choices[0].finish_reason, 'tool_calls');
    // A model that does not call a required tool cannot end its reply.
    await assert.rejects(
      openai.chat.completions.create(
        ask('Hello', {
          tools: [weather, clock],
          tool_choice: 'required',
        }),
      ),
      { status: 500 },
    );
    const none = await openai.chat.completions.create(
      ask('Hello', {
        tools: [weather, clock],
        tool_choice: 'none',
      }),
    );
    assert.equal(none.choices[0].message.tool_calls, undefined);
  });

  test('runTools goes round the loop by itself, streamed or not', async () => {
    for (const stream of [false, true]) {
      const asked = [];
      const runner = openai.chat.completions.runTools({
        model: 'm',
        stream,
        messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
        tools: [
          zodFunction({
            name: 'weather',
            description: 'Weather',
            parameters: z.object({ city: z.string() }),
            function: ({ city }) => {
              asked.push(city);
              return '21 degrees';
            },
          }),
        ],
      });
      assert.equal(await runner.finalContent(), 'It is 21 degrees in Paris.');
      assert.deepEqual(asked, ['Paris']);
      if (!stream) assert.ok((await runner.totalUsage()).completion_tokens > 0);
    }
  });

  test('json_schema is parsed into what it says', async () => {
    const person = z.object({ name: z.string(), age: z.number() });
    const completion = await openai.chat.completions.parse(
      ask('Ada as JSON', {
        response_format: zodResponseFormat(person, 'person'),
      }),
    );
    assert.deepEqual(completion.choices[0].message.parsed, { name: 'Ada', age: 36 });
  });

  test('log probabilities of every token', async () => {
    const completion = await openai.chat.completions.create(
      ask('Hi', { logprobs: true, top_logprobs: 2 }),
    );
    const { content } = completion.choices[0].logprobs;
    assert.ok(content.length > 5);
    for (const token of content) {
      assert.equal(token.top_logprobs.length, 2);
      assert.equal(token.top_logprobs[0].token, token.token);
      assert.ok(token.logprob > -0.001 && token.top_logprobs[1].logprob < -100);
    }
  });

  test('an abort in mid-stream, then a follow-up in the same conversation', async () => {
    const messages = [{ role: 'user', content: 'Please count' }];
    const stream = await openai.chat.completions.create({ model: 'm', messages, stream: true });
    let content = '';
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? '';
      if (content.includes('word20')) break; // the library aborts the request
    }
    assert.ok(stream.controller.signal.aborted);
    await server.idle();
    const [cut] = await server.turns();
    assert.equal(cut.status, 'incomplete');
    messages.push(
      { role: 'assistant', content },
      { role: 'user', content: 'Enough. The capital?' },
    );
    const next = await openai.chat.completions.create({ model: 'm', messages });
    assert.equal(next.choices[0].message.content, 'The capital is “Paris”. STOP It is old.');
  });

  test('an abort by signal is the library’s own error', async () => {
    const controller = new AbortController();
    const running = openai.chat.completions.create(ask('Please count'), {
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 200);
    await assert.rejects(running, APIUserAbortError);
    await server.idle();
  });

  test('stored completions: retrieve, list, delete', async () => {
    const kept = await openai.chat.completions.create(
      ask('The capital?', { store: true, metadata: { run: '1' } }),
    );
    const again = await openai.chat.completions.retrieve(kept.id);
    assert.equal(again.id, kept.id);
    assert.equal(again.choices[0].message.content, kept.choices[0].message.content);
    const listed = [];
    for await (const completion of openai.chat.completions.list()) listed.push(completion.id);
    assert.deepEqual(listed, [kept.id]);
    const deleted = await openai.chat.completions.delete(kept.id);
    assert.equal(deleted.deleted, true);
    await assert.rejects(openai.chat.completions.retrieve(kept.id), NotFoundError);
  });
});

suite('openai: the product itself', () => {
  let server;
  let openai;
  const key = 'sk-a-key-of-the-test';

  before(async () => {
    server = await Server.start({
      options: ['--api-key', key, '--alias', 'tiny', '-np', '1', '--queue', '1'],
    });
    openai = client(server, { apiKey: key });
  });
  after(async () => assert.equal(await server.stop(), 0));

  test('models', async () => {
    const models = [];
    for await (const model of openai.models.list()) models.push(model);
    assert.deepEqual(
      models.map((model) => model.id),
      ['tiny'],
    );
    assert.equal((await openai.models.retrieve('tiny')).object, 'model');
    await assert.rejects(openai.models.retrieve('other'), NotFoundError);
  });

  test('json_schema binds a model that would say anything', async () => {
    const colour = z.object({ colour: z.enum(['red', 'green']), on: z.boolean() });
    for (const stream of [false, true]) {
      const request = ask('A colour', {
        response_format: zodResponseFormat(colour, 'colour'),
        temperature: 1,
        seed: 7,
        max_tokens: 4000,
        chat_template_kwargs: { enable_thinking: false },
      });
      const completion = stream
        ? await openai.chat.completions.stream(request).finalChatCompletion()
        : await openai.chat.completions.parse(request);
      const { parsed } = completion.choices[0].message;
      assert.ok(['red', 'green'].includes(parsed.colour));
      assert.equal(typeof parsed.on, 'boolean');
    }
  });

  test('errors are the library’s classes, with the field at fault', async () => {
    const refused = async (request, type, status, param) => {
      await assert.rejects(openai.chat.completions.create(request), (error) => {
        assert.ok(error instanceof type, `${error}`);
        assert.equal(error.status, status);
        assert.equal(error.param, param);
        return true;
      });
    };
    await refused(ask('Hi', { temperature: -1 }), BadRequestError, 400, 'temperature');
    await refused({ model: 'm', messages: [] }, BadRequestError, 400, 'messages');
    await refused(
      { model: 'm', messages: [{ role: 'nobody', content: 'x' }] },
      BadRequestError,
      400,
      'messages[0].role',
    );
    await assert.rejects(client(server, { apiKey: 'wrong' }).models.list(), AuthenticationError);
    await assert.rejects(openai.post('/nowhere', { body: {} }), NotFoundError);
  });

  test('a full queue is a RateLimitError, which the library tries again', async () => {
    const controller = new AbortController();
    const long = ask('Go on', { max_tokens: 12000, ignore_eos: true, stream: true });
    const running = [];
    for (let i = 0; i < 2; ++i) {
      running.push(await openai.chat.completions.create(long, { signal: controller.signal }));
    }
    await assert.rejects(
      openai.chat.completions.create(ask('Me too', { max_tokens: 1 })),
      (error) => {
        assert.ok(error instanceof RateLimitError, `${error}`);
        assert.ok(Number(error.headers.get('retry-after')) > 0);
        return true;
      },
    );
    const patient = client(server, { apiKey: key, maxRetries: 5 });
    const later = patient.chat.completions.create(ask('Me too', { max_tokens: 1 }));
    setTimeout(() => controller.abort(), 300);
    assert.equal((await later).usage.completion_tokens, 1);
    await server.idle();
    assert.equal((await server.turns()).filter((turn) => turn.status === 'incomplete').length, 2);
  });
});
