/** All objects of the product, in the order in which they are written: the chart of this package, rendered. */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { loadCrds } from '../../../api/crds.ts';
import { systemClock } from '../../../lib/clock.ts';
import { systemRng } from '../../../lib/rng.ts';
import type { Obj } from '../../../runtime/types.ts';
import type { Chart } from '../../../templating/helm/chart.ts';
import { HelmError } from '../../../templating/helm/errors.ts';
import { chartOfFolder } from '../../../templating/helm/load.ts';
import { renderRound } from '../../../templating/helm/render.ts';
import { UsageError } from '../../errors.ts';
import { namespaceObject } from '../../objects.ts';
import { packageFolder } from '../../package.ts';
import { NAME } from './names.ts';
import type { InstallSettings } from './settings.ts';

/**
 * All objects except the CustomResourceDefinitions. Rights are written before the Deployments that need them.
 * @throws UsageError if the chart refuses the values; CommandError if this package contains no chart
 */
export function productObjects({ namespace, values }: InstallSettings): readonly Obj[] {
  const release = { name: NAME, namespace, revision: 1, isUpgrade: false };
  const world = { clock: systemClock, rng: systemRng };
  try {
    // The chart looks up nothing in the cluster, so one round is enough.
    const round = renderRound(productChart(), { release, values }, { known: undefined, spentMs: 0 }, world);
    const manifests = round.kind === 'rendered' ? round.result.manifests : [];
    return [namespaceObject(namespace), ...manifests.map(({ document }) => document as Obj)];
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw new UsageError(error.message.replace(/\s*\n\s*/g, ' '), { cause: error });
  }
}

function productChart(): Chart {
  const folder = packageFolder(join('charts', NAME));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).replaceAll(sep, '/'), readFileSync(path)] as const;
    });
  return chartOfFolder(new Map(files));
}

/** The output of `--dry-run`. @throws as `productObjects`; Error if this package contains no CRDs */
export const printedObjects = (settings: InstallSettings): readonly unknown[] => [
  ...(settings.crds ? loadCrds() : []),
  ...productObjects(settings),
];
