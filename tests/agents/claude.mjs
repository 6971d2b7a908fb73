// Claude Code: Anthropic's messages.
export const name = 'Claude Code';
export const program = 'claude';
export const endpoint = '/v1/messages';

export async function prepare({ url, model }) {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: 'none',
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  };
}

export const command = (prompt, follow) => [
  '--print',
  '--dangerously-skip-permissions',
  ...(follow ? ['--continue'] : []),
  prompt,
];

export const sideRules = [];

export const tools = ({ file }) => ({
  read: ['Read', { file_path: file }],
  edit: ['Edit', { file_path: file, old_string: 'Helo', new_string: 'Hello' }],
  run: ['Bash', { command: 'sh greet.sh', description: 'Runs the greeting' }],
});
