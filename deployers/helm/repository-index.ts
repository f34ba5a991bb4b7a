/** Finds the location of a chart's archive in the index of a chart repository. Pure. */
import { isObject, ownField } from '../../src/lib/objects.ts';
import type { YamlBudget } from '../../src/lib/yaml-budget.ts';
import type { Outlook } from '../../src/lib/outlook.ts';
import { parseYaml, YamlError } from '../../src/lib/yaml.ts';
import { compareRanked, INDEX, isInRange } from '../../src/templating/helm/metadata.ts';

/** The repository, its index or its credentials are invalid. */
export class RepositoryProblem extends Error {
  override readonly name: string = 'RepositoryProblem';
  readonly outlook: Outlook = 'final';
}

/** The repository does not have the chart. */
export class ChartNotPublished extends RepositoryProblem {}

/** The chart to find, and the URL of its repository without secret parts, for messages. */
export interface WantedChart {
  readonly url: string;
  readonly name: string;
  /** A version or a version range. */
  readonly version: string;
}

/** The location: absolute, or relative to the repository. @throws RepositoryProblem */
export function locationIn(index: Uint8Array, wanted: WantedChart, budget?: YamlBudget): string {
  return locationOf(readIndex(index, wanted.url, budget), wanted);
}

function readIndex(bytes: Uint8Array, url: string, budget: YamlBudget | undefined): unknown {
  try {
    const options = { integers: 'exact', strings: INDEX, ...(budget && { budget }) } as const;
    return parseYaml(Buffer.from(bytes).toString('utf8'), options);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new RepositoryProblem(`the index of ${url} is not valid YAML: ${error.message}`, { cause: error });
  }
}

function locationOf(index: unknown, { url, name, version }: WantedChart): string {
  const entries = ownField(ownField(index, 'entries'), name);
  if (!Array.isArray(entries))
    throw new ChartNotPublished(`no chart name found: ${url} has no chart ${name}`);
  const versions = entries
    .filter(isObject)
    .map((entry) => ({ version: String(entry['version']), urls: entry['urls'] }));
  const exact = versions.find((entry) => entry.version === version || entry.version === `v${version}`);
  const inRange = versions
    .filter((entry) => isInRange(version, entry.version))
    .sort((a, b) => compareRanked(b.version, a.version));
  const found = exact ?? inRange[0];
  const location: unknown = Array.isArray(found?.urls) ? found.urls[0] : undefined;
  if (typeof location === 'string' && found) return withTag(location, found.version);
  throw new RepositoryProblem(`no chart version found for ${name}-${version} in ${url}`);
}

const OCI = /^oci:\/\//i;

/** Whether a location is a reference in a registry. */
export const isInRegistry = (location: string): boolean => OCI.test(location);

/** A reference in a registry without tag or digest means the version; tags have `_` in place of `+`. */
function withTag(location: string, version: string): string {
  if (!isInRegistry(location)) return location;
  const [path = '', digest] = location.split('@', 2);
  const hasTag = /:[^/]*$/.test(path.replace(OCI, ''));
  const tagged = hasTag || digest !== undefined ? path : `${path}:${version}`;
  return tagged.replaceAll('+', '_') + (digest === undefined ? '' : `@${digest}`);
}

/** The reference in a location. */
export const referenceIn = (location: string): string => location.replace(OCI, '');
