// Codex: OpenAI's responses.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const name = 'Codex';
export const program = 'codex';
export const endpoint = '/v1/responses';

export async function prepare({ home, url, model }) {
  await mkdir(join(home, '.codex'), { recursive: true });
  await writeFile(
    join(home, '.codex', 'config.toml'),
    `model = "${model}"
model_provider = "samovar"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.samovar]
name = "Samovar"
base_url = "${url}/v1"
wire_api = "responses"
`,
  );
  return { CODEX_HOME: join(home, '.codex') };
}

const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
export const command = (prompt, follow) => [
  'exec',
  ...flags,
  ...(follow ? ['resume', '--last'] : []),
  prompt,
];

export const sideRules = [];

export const tools = ({ file }) => ({
  read: ['exec_command', { cmd: `cat ${file}` }],
  edit: ['exec_command', { cmd: `sed -i s/Helo/Hello/ ${file}` }],
  run: ['exec_command', { cmd: 'sh greet.sh' }],
});
