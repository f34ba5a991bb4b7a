/** `make guard`: fails if a tree costs more than in the baseline. It counts, so it can run on a busy machine. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProduct, type Run } from '../product/run.ts';
import { embedded } from '../servers.ts';
import { compared, isFailure, lower, type Baseline, type Figures } from './baseline.ts';
import { countedRound, warmUp } from './measure.ts';
import { closingLine, report } from './report.ts';

const FILE = join(import.meta.dirname, 'baseline.json');
const ROOT = join(import.meta.dirname, '../../..');
/** Only what exceeds the baseline in each round fails. */
const ROUNDS = 4;
const ROUNDS_OF_UPDATE = 3;
const NODE = Number.parseInt(process.versions.node);

/** @param reason to make the measured figures the baseline; undefined: compare with it @returns whether all is well */
export async function guard(reason: string | undefined): Promise<boolean> {
  console.log('counting what trees cost on the embedded API server');
  const server = await embedded();
  try {
    return await withProduct(server, { folder: ROOT, isCounted: true }, async (run) => {
      await warmUp(run);
      if (reason === undefined) return check(run);
      await update(run, reason);
      return true;
    });
  } finally {
    await server.stop();
  }
}

async function check(run: Run): Promise<boolean> {
  const baseline = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
  let figures = await countedRound(run, 'round-1');
  for (let round = 2; round <= ROUNDS; round++) {
    const excesses = compared(baseline, figures, NODE).filter(isFailure);
    if (excesses.length === 0) break;
    console.log(`${excesses.length} figures exceed the baseline; counting again`);
    figures = lower(figures, await countedRound(run, `round-${round}`));
  }
  const comparisons = compared(baseline, figures, NODE);
  console.log(report(comparisons, baseline).join('\n'));
  console.log(`\n${closingLine(comparisons)}`);
  return !comparisons.some(isFailure);
}

async function update(run: Run, reason: string): Promise<void> {
  let figures = await countedRound(run, 'round-1');
  for (let round = 2; round <= ROUNDS_OF_UPDATE; round++)
    figures = lower(figures, await countedRound(run, `round-${round}`));
  const baseline: Baseline = { reason, node: NODE, figures: rounded(figures) };
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
  console.log(`wrote ${FILE}`);
}

/** Large figures without decimals. */
const rounded = (figures: Figures): Figures =>
  Object.fromEntries(
    Object.entries(figures).map(([step, costs]) => [
      step,
      Object.fromEntries(
        Object.entries(costs).map(([what, cost]) => [
          what,
          cost < 100 ? Math.round(cost * 1000) / 1000 : Math.round(cost),
        ]),
      ),
    ]),
  );
