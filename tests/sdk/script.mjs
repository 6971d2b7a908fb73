// What a scripted model says, in the syntax of Qwen3.5's template (tests/scripted/script.h).

export function call(name, args = {}) {
  const parameters = Object.entries(args).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `<parameter=${key}>\n${text}\n</parameter>\n`;
  });
  return `<tool_call>\n<function=${name}>\n${parameters.join('')}</function>\n</tool_call>`;
}

// Reasoning, then text, then calls; each may be left out.
export function reply({ think = '', text = '', calls = [] } = {}) {
  const said = [text, calls.join('\n')].filter((part) => part !== '').join('\n\n');
  return `${think}\n</think>\n\n${said}`;
}

// A long text of numbered words, for replies that are interrupted.
export function longText(words) {
  return Array.from({ length: words }, (_, i) => `word${i + 1}`).join(' ');
}
