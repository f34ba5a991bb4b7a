/** Renders a chart: the entrance to this folder. What comes out is what `helm template` prints. */
import type { Fields } from '../../lib/objects.ts';
import { DEFAULT_LIMITS } from '../budget.ts';
import { defaultCapabilities, type Capabilities } from './capabilities.ts';
import { crdFiles, type Chart, type CrdFile } from './chart.ts';
import { coalesceValues } from './coalesce.ts';
import { withDependencies } from './dependencies.ts';
import { renderTemplates, type World } from './engine.ts';
import { ChartInvalid } from './errors.ts';
import type { Lookup, LookupKey } from './functions.ts';
import { sortManifests, type Manifests } from './manifests.ts';
import { isInRange } from './metadata.ts';
import type { Release } from './root.ts';
import { checkValues } from './schema.ts';

export interface RenderOptions {
  readonly release: Release;
  /** What the user gives. */
  readonly values: Fields;
  /** Default: what Helm assumes without a cluster. */
  readonly capabilities?: Capabilities;
  /** Whether `values.schema.json` is left unread. */
  readonly skipsSchema?: boolean;
  /** Reads the cluster for `lookup`; absent: there is none, and every answer is empty. */
  readonly lookup?: (wanted: LookupKey) => Promise<unknown>;
}

export interface Rendering extends Manifests {
  readonly crds: readonly CrdFile[];
}

/** How often templates may ask for something else, having seen an answer. */
const MAX_ROUNDS = 20;

/** @throws ChartInvalid, ValuesInvalid, ChartTemplateFailed, ManifestUnreadable; what `lookup` throws */
export async function renderChart(given: Chart, options: RenderOptions, world: World): Promise<Rendering> {
  const { capabilities = defaultCapabilities, release } = options;
  refuseMissing(given);
  const chart = withDependencies(given, options.values);
  const values = coalesceValues(chart, options.values);
  if (!options.skipsSchema) checkValues(chart, values);
  const { kubeVersion } = chart.metadata;
  if (kubeVersion !== '' && !isInRange(kubeVersion, capabilities.kubeVersion)) {
    throw new ChartInvalid(
      `chart requires kubeVersion: ${kubeVersion} which is incompatible with Kubernetes ${capabilities.kubeVersion}`,
    );
  }
  // All rounds share the time; what is read between them does not count.
  let leftMs = { ...DEFAULT_LIMITS, ...world.limits }.timeoutMs;
  const printed = await withLookups(options.lookup, (lookup) => {
    const begun = world.clock.now();
    try {
      const input = { values, release, capabilities, lookup };
      return renderTemplates(chart, input, { ...world, deadline: begun + leftMs });
    } finally {
      leftMs -= world.clock.now() - begun;
    }
  });
  const manifests = new Map([...printed].filter(([path]) => !path.endsWith('NOTES.txt')));
  return { ...sortManifests(manifests), crds: crdFiles(chart) };
}

/** A chart that lies without its dependencies would be rendered in part. */
function refuseMissing({ metadata, dependencies }: Chart): void {
  const missing = metadata.dependencies
    .map(({ name }) => name)
    .filter((name) => !dependencies.some((d) => d.metadata.name === name));
  if (missing.length === 0) return;
  throw new ChartInvalid(
    `chart ${metadata.name}: found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}; pack it after "helm dependency build"`,
  );
}

/**
 * Templates cannot wait. What they look up for the first time is empty, and noted; it is read after the rendering, which
 * is then done again, until nothing new is asked for.
 */
async function withLookups<T>(read: RenderOptions['lookup'], render: (lookup: Lookup) => T): Promise<T> {
  if (!read) return render(() => ({}));
  const known = new Map<string, unknown>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const asked = new Map<string, LookupKey>();
    const outcome = attempt(() =>
      render((wanted) => {
        const key = JSON.stringify(wanted);
        if (!known.has(key)) asked.set(key, wanted);
        return known.get(key);
      }),
    );
    if (asked.size === 0) {
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    }
    for (const [key, wanted] of asked) known.set(key, await read(wanted));
  }
  throw new ChartInvalid(
    `the templates look up something else each time: ${String(MAX_ROUNDS)} times is enough`,
  );
}

/** What fails while an answer is missing may not fail with it. */
function attempt<T>(run: () => T): { readonly result: T } | { readonly error: unknown } {
  try {
    return { result: run() };
  } catch (error) {
    return { error };
  }
}

/** The text that `helm template --include-crds` prints. */
export function printRendering({ crds, manifests, hooks }: Rendering): string {
  const page = (source: string, content: string): string => `---\n# Source: ${source}\n${content}\n`;
  const installed = [...crds, ...manifests].map(({ source, content }) => page(source, content)).join('');
  return `${installed.trim()}\n${hooks.map(({ source, content }) => page(source, content)).join('')}`;
}
