/** Determines which secrets contain the current state, and which are outdated. Pure. */
import type { Obj, View } from '../../src/runtime/types.ts';
import { annotations, labels, secretTypes } from './contract.ts';

interface Snapshots {
  /** Names of the parts of the newest complete snapshot, in order. */
  readonly newest: readonly string[];
  /** All other parts: of older snapshots, and of incomplete ones. */
  readonly others: readonly View<Obj>[];
}

export const stateLabel = { [labels.type]: secretTypes.state };

/** @param secrets with at least their metadata */
export function snapshotsIn(secrets: readonly View<Obj>[]): Snapshots {
  const byUuid = new Map<string, View<Obj>[]>();
  for (const secret of secrets) {
    const uuid = secret.metadata.annotations?.[annotations.stateUuid] ?? '';
    byUuid.set(uuid, [...(byUuid.get(uuid) ?? []), secret]);
  }
  const [newest = []] = [...byUuid.values()].filter(isWhole).sort((a, b) => compare(timeOf(b), timeOf(a)));
  const kept = new Set(newest);
  return {
    newest: [...newest].sort((a, b) => numOf(a) - numOf(b)).map(({ metadata }) => metadata.name),
    others: secrets.filter((secret) => !kept.has(secret)),
  };
}

const numOf = ({ metadata }: View<Obj>): number => Number(metadata.annotations?.[annotations.stateNum] ?? 0);

/** Upstream's snapshots do not contain the number of parts, so they count as complete. */
function isWhole(pieces: readonly View<Obj>[]): boolean {
  const wanted = pieces[0]?.metadata.annotations?.[annotations.statePieces];
  return wanted === undefined || Number(wanted) === pieces.length;
}

/** Creation timestamps have whole seconds; within a second, the time of the snapshot decides. */
const timeOf = (pieces: readonly View<Obj>[]): readonly [created: string, taken: string] => [
  pieces.map(({ metadata }) => metadata.creationTimestamp ?? '').reduce((a, b) => (a > b ? a : b), ''),
  pieces[0]?.metadata.annotations?.[annotations.stateTime] ?? '',
];

const compare = (a: readonly string[], b: readonly string[]): number => {
  const i = a.findIndex((text, at) => text !== b[at]);
  return i < 0 ? 0 : (a[i] ?? '') < (b[i] ?? '') ? -1 : 1;
};
