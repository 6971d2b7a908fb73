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
  const stack = level(children, null, 1, byNumber);
  for (let row = stack.pop(); row; row = stack.pop()) {
    result.push(row);
    if (row.children && !closed.has(row.node.id)) {
      stack.push(...level(children, row.node.id, row.level + 1, byNumber));
    }
  }
  return result;
}

/** The children of a node, last one first: so a stack gives them in order. */
function level(
  children: Children,
  parent: string | null,
  depth: number,
  byNumber: Map<number, Sequence>,
): Row[] {
  const list = children.get(parent) ?? [];
  const made = list.map((node, i) => ({
    node,
    level: depth,
    children: children.get(node.id)?.length ?? 0,
    position: i + 1,
    siblings: list.length,
    ends: (node.memory?.ends ?? []).flatMap((number) => byNumber.get(number) ?? []),
  }));
  return made.reverse();
}

/** What a node can do, most useful first. */
export function kind(node: PrefixNode): 'checkpoint' | 'anchor' | 'path' {
  if (node.disk?.checkpoint) return 'checkpoint';
  return node.memory?.anchor ? 'anchor' : 'path';
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
