// What the requests of one agent cost, as a table in Markdown.

// Of a turn's computed tokens, those that an earlier turn had computed already.
const again = (turn) => turn.miss?.tokens_lost ?? 0;

function where({ miss }) {
  const first = miss?.first_difference;
  if (!first) return '';
  const message = first.message === null ? '' : `messages[${first.message}] (${first.role}) `;
  return `${message}${first.field}`;
}

export function table({ agent, turns }) {
  const lines = [
    `\n${agent.name}, \`${agent.endpoint}\``,
    '',
    '| | messages | prompt | reused | computed | new | again | ended | miss | first difference |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ];
  turns.forEach((turn, i) => {
    const { prompt_tokens: prompt, reused_tokens: reused, computed_tokens: computed } = turn.timings;
    const ended = turn.status === 'complete' ? turn.finish_reason : turn.status;
    const cells = [i + 1, turn.messages, prompt, reused, computed, computed - again(turn)];
    cells.push(again(turn), ended, turn.miss?.class ?? 'none', where(turn));
    lines.push(`| ${cells.join(' | ')} |`);
  });
  return lines.join('\n');
}
