// opencode: chat completions, through the AI SDK.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const name = 'opencode';
export const program = 'opencode';
export const endpoint = '/v1/chat/completions';

export async function prepare({ home, url, model }) {
  await mkdir(join(home, 'config', 'opencode'), { recursive: true });
  await writeFile(
    join(home, 'config', 'opencode', 'opencode.json'),
    JSON.stringify(
      {
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        share: 'disabled',
        model: `samovar/${model}`,
        small_model: `samovar/${model}`,
        permission: { edit: 'allow', bash: 'allow' },
        provider: {
          samovar: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Samovar',
            options: { baseURL: `${url}/v1` },
            models: { [model]: { name: 'Samovar', limit: { context: 131072, output: 16384 } } },
          },
        },
      },
      null,
      2,
    ),
  );
  return {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

export const command = (prompt, follow) => ['run', ...(follow ? ['--continue'] : []), prompt];

export const sideRules = [
  { system: 'title generator', reply: '\n</think>\n\nFixing the greeting' },
];

export const tools = ({ file }) => ({
  read: ['read', { filePath: file }],
  edit: ['edit', { filePath: file, oldString: 'Helo', newString: 'Hello' }],
  run: ['bash', { command: 'sh greet.sh' }],
});
