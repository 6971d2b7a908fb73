// Qwen Code: chat completions, through the OpenAI library.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const name = 'Qwen Code';
export const program = 'qwen';
export const endpoint = '/v1/chat/completions';

export async function prepare({ home, url, model }) {
  await mkdir(join(home, '.qwen'), { recursive: true });
  await writeFile(
    join(home, '.qwen', 'settings.json'),
    JSON.stringify(
      {
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'openai' } },
      },
      null,
      2,
    ),
  );
  return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: model };
}

export const command = (prompt, follow) => ['--yolo', ...(follow ? ['--continue'] : []), prompt];

export const sideRules = [];

export const tools = ({ file }) => ({
  read: ['read_file', { file_path: file }],
  edit: ['edit', { file_path: file, old_string: 'Helo', new_string: 'Hello' }],
  run: [
    'run_shell_command',
    { command: 'sh greet.sh', description: 'Runs the greeting', is_background: false },
  ],
});
