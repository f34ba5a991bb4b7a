/** The forks of a Go template: `if`, `with` and `range`, found without executing it. */
import type { Fork, Way } from '../fork.ts';
import { print, type BranchNode, type ListNode } from './ast.ts';
import type { ParsedSource } from './parse.ts';

/** The source itself is one of the definitions if it writes anything. */
export const goForks = ({ root, definitions }: ParsedSource): readonly Fork[] =>
  [...new Set([root, ...definitions.values()])].flatMap(forksIn);

const forksIn = ({ nodes }: ListNode): readonly Fork[] =>
  nodes.flatMap((node) => {
    if (node.kind !== 'if' && node.kind !== 'with' && node.kind !== 'range') return [];
    const inner = [node.list, ...(node.otherwise ? [node.otherwise] : [])].flatMap(forksIn);
    return [{ pos: node.pos, text: `{{${node.kind} ${print(node.pipe)}}}`, ways: waysOf(node) }, ...inner];
  });

/** A loop without elements counts as a way only if the template says what to do then. */
const waysOf = ({ kind, otherwise }: BranchNode): readonly Way[] =>
  kind === 'range' && !otherwise ? ['block'] : ['block', 'else'];
