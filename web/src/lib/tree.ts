// The prefix tree as rows: the server sends nodes with parents, the page shows them depth first.
import type { PrefixNode, Sequence, Sessions } from './types';

export interface Row {
  node: PrefixNode;
  level: number;
  children: number;
  position: number;
  siblings: number;
  /** Sequences that end here: live conversations. */
  ends: Sequence[];
  /** Of the same one session as its parent. */
  goesOn: boolean;
}

type Children = Map<string | null, PrefixNode[]>;

/** `closed`: ids of nodes whose children are not shown. A node whose parent is not there is a root. */
export function rows(sessions: Sessions, closed: ReadonlySet<string>): Row[] {
  const ids = new Set(sessions.nodes.map((node) => node.id));
  const children: Children = new Map();
  for (const node of sessions.nodes) {
    const parent = node.parent !== null && ids.has(node.parent) ? node.parent : null;
    const list = children.get(parent);
    if (list) list.push(node);
    else children.set(parent, [node]);
  }
  const byNumber = new Map(sessions.sequences.map((s) => [s.sequence, s]));
  const result: Row[] = [];
  // A stack, not recursion: a chain may be as deep as a session is long.
  const stack = level(children, undefined, 1, byNumber);
  for (let row = stack.pop(); row; row = stack.pop()) {
    result.push(row);
    if (row.children && !closed.has(row.node.id)) {
      stack.push(...level(children, row.node, row.level + 1, byNumber));
    }
  }
  return result;
}

/** The children of a node, last one first: so a stack gives them in order. */
function level(
  children: Children,
  parent: PrefixNode | undefined,
  depth: number,
  byNumber: Map<number, Sequence>,
): Row[] {
  const list = children.get(parent?.id ?? null) ?? [];
  const only = parent?.sessions.length === 1 ? parent.sessions[0] : undefined;
  const made = list.map((node, i) => ({
    node,
    level: depth,
    children: children.get(node.id)?.length ?? 0,
    position: i + 1,
    siblings: list.length,
    ends: (node.memory?.ends ?? []).flatMap((number) => byNumber.get(number) ?? []),
    goesOn: only !== undefined && node.sessions.length === 1 && node.sessions[0] === only,
  }));
  return made.reverse();
}

const kinds: Record<string, string> = {
  system: 'system and tools',
  message: 'message',
  grid: 'grid',
  history_end: 'end of history',
  reply_end: 'end of reply',
  divergence: 'learned divergence',
};

export function kindName(name: string): string {
  return kinds[name] ?? name;
}

export function nodeBytes(node: PrefixNode): { memory: number; disk: number } {
  return {
    memory: node.memory ? node.memory.bytes + node.memory.anchor_bytes : 0,
    disk: node.disk ? node.disk.bytes + node.disk.snapshot_bytes : 0,
  };
}
