/** What `make guard` prints. */
import { isFailure, type Baseline, type Comparison } from './baseline.ts';

const WIDTHS = [34, 12, 12] as const;

/** A table of all figures, then what has failed and what to do about it. */
export function report(comparisons: readonly Comparison[], { reason, node }: Baseline): string[] {
  const lines = [row('per tree', 'baseline', 'now', 'change')];
  let step = '';
  for (const each of comparisons) {
    if (each.step !== step) lines.push((step = each.step));
    lines.push(row(`  ${each.what}`, text(each.baseline), text(each.now), changeOf(each)));
  }
  lines.push('', `the baseline was last changed because: ${reason}`);
  if (comparisons.some(({ verdict }) => verdict === 'other Node.js'))
    lines.push(`code is not compared: its baseline was counted on Node.js ${node}`);
  const failures = comparisons.filter(isFailure);
  lines.push(...failures.map(failureOf));
  if (failures.length > 0)
    lines.push(
      `If the change is worth this, run: make guard ARGS="--update 'REASON'", and commit test/bench/guard/baseline.json.`,
    );
  else if (comparisons.some(({ verdict }) => verdict === 'less'))
    lines.push(
      `Some figures are lower. To keep the gain, run: make guard ARGS="--update 'REASON'", and commit the file.`,
    );
  return lines;
}

/** As other steps of CI print it. */
export function closingLine(comparisons: readonly Comparison[]): string {
  const failed = comparisons.filter(isFailure).length;
  const skipped = comparisons.filter(({ verdict }) => verdict === 'other Node.js').length;
  const passed = comparisons.length - failed - skipped;
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

const row = (what: string, ...[baseline, now, change]: readonly [string, string, string]): string =>
  `${what.padEnd(WIDTHS[0])}${baseline.padStart(WIDTHS[1])}${now.padStart(WIDTHS[2])}   ${change}`;

const text = (figure: number | undefined): string =>
  figure === undefined ? '-' : figure.toLocaleString('en', { maximumFractionDigits: figure < 100 ? 2 : 0 });

function changeOf({ baseline, now, verdict }: Comparison): string {
  const percent =
    baseline !== undefined && now !== undefined ? `${signed((now / baseline - 1) * 100)} %` : '';
  return `${percent.padStart(7)}${verdict === 'equal' ? '' : `  ${verdict}`}`;
}

const signed = (percent: number): string => `${percent < 0 ? '' : '+'}${percent.toFixed(1)}`;

const failureOf = ({ step, what, baseline, now, verdict }: Comparison): string =>
  verdict === 'missing'
    ? `failed: ${step}: ${what}: there is no figure ${now === undefined ? 'now' : 'in the baseline'}`
    : `failed: ${step}: ${what}: ${text(now)} per tree, and ${text(baseline ?? 0)} in the baseline`;
