/** Counts what trees cost on the embedded API server: nothing that depends on the speed of the machine. */
import type { Cost, Run } from '../product/run.ts';
import { shapeNames, type ShapeName } from '../shapes.ts';
import { BYTES, CODE, type Figures } from './baseline.ts';

/**
 * Few at a time, so that no tree waits for so long that the wait is written to a status, which happens after two
 * seconds.
 */
const BATCHES: Readonly<Record<ShapeName, { readonly count: number; readonly atOnce: number }>> = {
  mock: { count: 20, atOnce: 3 },
  stack: { count: 8, atOnce: 1 },
};
const WARM_UP = 4;

export async function warmUp({ load }: Run): Promise<void> {
  for (const shape of shapeNames) {
    const names = namesOf(`warm-${shape}`, WARM_UP);
    await load.install({ names, atOnce: 2 }, shape);
    await load.uninstall({ names });
  }
}

/** Installs and deletes trees of each shape. @param prefix of their names, which must be of equal length in all rounds */
export async function countedRound(run: Run, prefix: string): Promise<Figures> {
  const figures: Record<string, Figures[string]> = {};
  for (const shape of shapeNames) {
    const { count, atOnce } = BATCHES[shape];
    const batch = { names: namesOf(`${prefix}-${shape}`, count), atOnce };
    figures[`${shape}, installed`] = perTree(await run.step((load) => load.install(batch, shape)), count);
    figures[`${shape}, deleted`] = perTree(await run.step((load) => load.uninstall(batch)), count);
  }
  return figures;
}

/** Names of equal length, because they are part of the bytes that are counted. */
export const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(4, '0')}`);

function perTree({ requests, bodyBytes, counts }: Cost, trees: number): Figures[string] {
  const totals = {
    ...requests.kinds,
    [BYTES.sent]: bodyBytes,
    [BYTES.stored]: requests.answerBytes,
    ...(counts && { [CODE.blocks]: counts.executedBlocks, [CODE.allocated]: counts.allocatedBytes }),
  };
  return Object.fromEntries(Object.entries(totals).map(([what, total]) => [what, total / trees]));
}
