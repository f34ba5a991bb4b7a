/** Renders a chart: the public interface of this folder. The output equals that of `helm template`. */
import type { Fields } from '../../lib/objects.ts';
import { trimSpace } from '../go/spaces.ts';
import { DEFAULT_LIMITS } from '../budget.ts';
import {
  defaultCapabilities,
  withDefinitions,
  type Capabilities,
  type OwnDefinitions,
} from './capabilities.ts';
import { crdFiles, type Chart, type CrdFile } from './chart.ts';
import { coalesceValues } from './coalesce.ts';
import { definitionsIn, type Definition } from './definitions.ts';
import { withDependencies } from './dependencies.ts';
import { renderTemplates, type World } from './engine.ts';
import { ChartInvalid } from './errors.ts';
import type { Lookup } from './functions.ts';
import { lookupIn, withLookups, type ReadLookup, type Round, type RoundResult } from './lookups.ts';
import { sortManifests, type Manifests } from './manifests.ts';
import { isInRange } from './metadata.ts';
import type { Release } from './root.ts';
import { checkValues } from './schema.ts';

export interface Inputs {
  readonly release: Release;
  /** The user's values. */
  readonly values: Fields;
  /** Default: Helm's defaults without a cluster. */
  readonly capabilities?: Capabilities;
  /** Default: nothing happens to the CRDs of the chart, as with `helm template`. */
  readonly ownDefinitions?: OwnDefinitions;
  /** Whether `values.schema.json` is ignored. */
  readonly skipsSchema?: boolean;
}

export interface Rendering extends Manifests {
  readonly crds: readonly CrdFile[];
  /** The objects of the CRD files, or the errors of documents. */
  readonly definitions: () => readonly Definition[];
  /** The chart with the dependencies that these values enable. */
  readonly chart: Chart;
  /** The output of the `NOTES.txt` of the root chart; empty without one. */
  readonly notes: string;
}

/** @throws ChartInvalid, ValuesInvalid, ChartTemplateFailed, ManifestUnreadable; the errors of `lookup` */
export const renderChart = (
  chart: Chart,
  { lookup, ...inputs }: Inputs & { readonly lookup?: ReadLookup },
  world: World,
): Promise<Rendering> =>
  withLookups(lookup, (round) => Promise.resolve(round).then(() => renderRound(chart, inputs, round, world)));

/** One round with the known lookups. @throws as `renderChart` */
export function renderRound(
  chart: Chart,
  inputs: Inputs,
  round: Round,
  world: World,
): RoundResult<Rendering> {
  const begun = world.clock.now();
  // All rounds share the time limit; the time for reading between them does not count.
  const deadline = begun + { ...DEFAULT_LIMITS, ...world.limits }.timeoutMs - round.spentMs;
  const { lookup, asked } = lookupIn(round);
  try {
    const result = renderOnce(chart, inputs, lookup, { ...world, deadline });
    if (asked.size === 0) return { kind: 'rendered', result };
  } catch (error) {
    // A failure with a missing lookup may disappear when the lookup is known.
    if (asked.size === 0) throw error;
  }
  const spentMs = round.spentMs + world.clock.now() - begun;
  return { kind: 'asked', asked: [...asked.values()], spentMs };
}

function renderOnce(
  given: Chart,
  { release, values: own, capabilities: facts = defaultCapabilities, ownDefinitions, skipsSchema }: Inputs,
  lookup: Lookup,
  world: World,
): Rendering {
  refuseMissing(given);
  const chart = withDependencies(given, own);
  const values = coalesceValues(chart, own);
  if (!skipsSchema) checkValues(chart, values);
  const crds = crdFiles(chart);
  let read: readonly Definition[] | undefined;
  const definitions = (): readonly Definition[] => (read ??= crds.flatMap(definitionsIn));
  const capabilities = ownDefinitions
    ? withDefinitions(facts, definitions().map(documentOf), ownDefinitions)
    : facts;
  const { kubeVersion } = chart.metadata;
  if (kubeVersion !== '' && !isInRange(kubeVersion, capabilities.kubeVersion)) {
    throw new ChartInvalid(
      `chart requires kubeVersion: ${kubeVersion} which is incompatible with Kubernetes ${capabilities.kubeVersion}`,
    );
  }
  const printed = renderTemplates(chart, { values, release, capabilities, lookup }, world);
  const manifests = new Map([...printed].filter(([path]) => !path.endsWith('NOTES.txt')));
  const notes = printed.get(`${chart.metadata.name}/templates/NOTES.txt`) ?? '';
  return { ...sortManifests(manifests), crds, definitions, chart, notes };
}

const documentOf = (definition: Definition): unknown =>
  'document' in definition ? definition.document : undefined;

/** Refuses a chart whose dependencies are missing. */
function refuseMissing({ metadata, dependencies }: Chart): void {
  const missing = metadata.dependencies
    .map(({ name }) => name)
    .filter((name) => !dependencies.some((d) => d.metadata.name === name));
  if (missing.length === 0) return;
  throw new ChartInvalid(
    `chart ${metadata.name}: found in Chart.yaml, but missing in charts/ directory: ${missing.join(', ')}; pack it after "helm dependency build"`,
  );
}

/** A document as Helm prints it: below the path of its template. */
export const pageOf = ({ source, content }: CrdFile): string => `---\n# Source: ${source}\n${content}\n`;

/** The output of `helm template --include-crds`. */
export function printRendering({
  crds,
  manifests,
  hooks,
}: Pick<Rendering, 'crds' | 'manifests' | 'hooks'>): string {
  const installed = [...crds, ...manifests].map(pageOf).join('');
  return `${trimSpace(installed)}\n${hooks.map(pageOf).join('')}`;
}
