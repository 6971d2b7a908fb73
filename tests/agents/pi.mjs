// pi: chat completions, through the OpenAI library.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const name = 'pi';
export const program = 'pi';
export const endpoint = '/v1/chat/completions';

export async function prepare({ home, url, model }) {
  await mkdir(join(home, '.pi', 'agent'), { recursive: true });
  await writeFile(
    join(home, '.pi', 'agent', 'models.json'),
    JSON.stringify(
      {
        providers: {
          samovar: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'none',
            models: [
              {
                id: model,
                name: 'Samovar',
                reasoning: false,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: 131072,
                maxTokens: 16384,
              },
            ],
          },
        },
      },
      null,
      2,
    ),
  );
  return { PI_OFFLINE: '1', PI_TELEMETRY: '0' };
}

export const command = (prompt, follow, { model }) => [
  '--print',
  '--provider',
  'samovar',
  '--model',
  model,
  ...(follow ? ['--continue'] : []),
  prompt,
];

export const sideRules = [];

export const tools = ({ file }) => ({
  read: ['read', { path: file }],
  edit: ['edit', { path: file, edits: [{ oldText: 'Helo', newText: 'Hello' }] }],
  run: ['bash', { command: 'sh greet.sh' }],
});
