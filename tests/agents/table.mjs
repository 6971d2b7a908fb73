// What the requests of one agent cost, as a table in Markdown.

// Of a turn's computed tokens, those that an earlier turn had computed already.
const again = (turn) => turn.miss?.tokens_lost ?? 0;

function cause(turn) {
  const { miss } = turn;
  if (!miss || miss.class === 'first_turn') return 'a new conversation';
  const at = miss.first_difference;
  const where = at ? `, messages[${at.message}] (${at.role}) ${at.field ?? ''}` : '';
  return miss.class === 'none' ? `the split${where}` : `${miss.class}: ${miss.title}${where}`;
}

export function table({ agent, turns }) {
  const lines = [
    `\n${agent.name}, ${agent.endpoint}`,
    '',
    '| request | messages | prompt | reused | computed | new | again | ended | cause |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  turns.forEach((turn, i) => {
    const {
      prompt_tokens: prompt,
      reused_tokens: reused,
      computed_tokens: computed,
    } = turn.timings;
    const cells = [
      i + 1,
      turn.messages,
      prompt,
      reused,
      computed,
      computed - again(turn),
      again(turn),
      turn.status === 'complete' ? turn.finish_reason : turn.status,
      cause(turn),
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  });
  return lines.join('\n');
}
