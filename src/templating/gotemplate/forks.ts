/** The forks of a Go template (`if`, `with` and `range`) and its included files, found without executing it. */
import type { Fork, Way } from '../fork.ts';
import { print, type BranchNode, type ListNode, type Node } from './ast.ts';
import type { ParsedSource } from './parse.ts';

/** The source itself is one of the definitions if it writes anything. */
export const goForks = ({ root, definitions }: ParsedSource): readonly Fork[] =>
  [...new Set([root, ...definitions.values()])].flatMap(forksIn);

const forksIn = ({ nodes }: ListNode): readonly Fork[] =>
  nodes.flatMap((node) => {
    if (node.kind !== 'if' && node.kind !== 'with' && node.kind !== 'range') return [];
    const inner = [node.list, ...(node.otherwise ? [node.otherwise] : [])].flatMap(forksIn);
    return [{ pos: node.pos, text: print(node), ways: waysOf(node) }, ...inner];
  });

/** A loop without elements counts as a way only if the template says what to do then. */
const waysOf = ({ kind, otherwise }: BranchNode): readonly Way[] =>
  kind === 'range' && !otherwise ? ['block'] : ['block', 'else'];

/** The constant paths in calls of `include`. */
export const goIncludes = ({ root, definitions }: ParsedSource): readonly string[] =>
  [...new Set([root, ...definitions.values()])].flatMap((list) => [...includesIn(list)]);

/** @param part a node, a list of nodes, or a value in one */
function* includesIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  const node = part as Node;
  if (node.kind === 'command') {
    const [callee, path] = node.args;
    if (callee?.kind === 'identifier' && callee.name === 'include' && path?.kind === 'string')
      yield path.value;
  }
  for (const one of Object.values(node)) yield* includesIn(one);
}
