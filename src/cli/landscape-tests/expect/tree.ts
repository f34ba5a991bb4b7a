/** Checks the expected phases, messages and conditions of a tree. Pure. */
import { hintFor } from '../../../lib/closest.ts';
import type { Node } from '../../tree/tree.ts';
import type { ExpectedNode, Then } from '../file/schema.ts';
import { ABSENT } from '../file/read.ts';
import type { Difference } from './problem.ts';

/** What is wrong with one node. */
interface NodeProblem {
  readonly path: string;
  readonly title: string;
  readonly differences: readonly Difference[];
}

export function checkTree(
  expected: NonNullable<Then['tree']>,
  nodes: ReadonlyMap<string, Node>,
): readonly NodeProblem[] {
  return Object.entries(expected).flatMap(([path, wanted]) => {
    const node = nodes.get(path);
    const { phase, message, conditions }: ExpectedNode =
      typeof wanted === 'string' ? { phase: wanted } : wanted;
    if (phase === ABSENT) {
      return node
        ? [
            {
              path,
              title: `${titleOf(path, node)} exists`,
              differences: [valueDifference('', ABSENT, stateOf(node))],
            },
          ]
        : [];
    }
    if (!node) {
      const known = [...nodes.keys()];
      const hint =
        known.length === 0 ? 'there are no trees' : hintFor(path, known, `there are ${known.join(', ')}`);
      return [{ path, title: `"${path}" does not exist; ${hint}`, differences: [] }];
    }
    const differences = [
      ...(phase !== undefined && phase !== node.phase
        ? [valueDifference('phase', phase, stateOf(node))]
        : []),
      ...messageDifferences(message, node),
      ...conditionDifferences(conditions, node),
    ];
    return differences.length > 0
      ? [{ path, title: `${titleOf(path, node)} is not as expected`, differences }]
      : [];
  });
}

function messageDifferences(message: string | undefined, node: Node): readonly Difference[] {
  const actual = [node.message, ...node.warnings].filter((text) => text !== undefined && text !== '');
  if (message === undefined || actual.some((text) => text?.includes(message))) return [];
  return [valueDifference('message', `contains "${message}"`, cut(actual.join('\n')) || 'no message')];
}

function conditionDifferences(
  conditions: ExpectedNode['conditions'],
  { object }: Node,
): readonly Difference[] {
  const found = object.status?.conditions ?? [];
  return Object.entries(conditions ?? {}).flatMap(([type, wanted]) => {
    const actual = found.find((one) => one.type === type);
    if (actual?.status === wanted || (wanted === ABSENT && !actual)) return [];
    const state = actual ? `${actual.status} (${actual.reason}: ${actual.message})` : ABSENT;
    return [valueDifference(`condition ${type}`, wanted, state)];
  });
}

const titleOf = (path: string, { kind }: Node): string =>
  `${kind === 'DeployItem' ? 'deploy item' : 'installation'} ${path}`;

const stateOf = ({ phase, message }: Node): string =>
  `${phase || 'no phase'}${message === undefined ? '' : ` (${cut(message)})`}`;

/** Messages may contain whole templates. */
const MAX_LINES = 6;
const cut = (message: string): string => {
  const lines = message.split('\n');
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '…'].join('\n') : message;
};

const valueDifference = (path: string, expected: string, actual: string): Difference => ({
  path,
  expected,
  actual,
});
