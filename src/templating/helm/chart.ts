/** A chart in memory. Dependencies are charts themselves; the path of one tells where it hangs in the tree. */
import type { Fields } from '../../lib/objects.ts';
import type { ChartMetadata } from './metadata.ts';

export interface ChartFile {
  /** Relative to the chart, with `/`. */
  readonly name: string;
  readonly content: Uint8Array;
}

export interface Chart {
  readonly metadata: ChartMetadata;
  /** Defaults of `values.yaml`. */
  readonly values: Fields;
  /** `values.schema.json` as it stands. */
  readonly schema?: Uint8Array | undefined;
  readonly templates: readonly ChartFile[];
  /** All other files, `crds/` among them. */
  readonly files: readonly ChartFile[];
  readonly dependencies: readonly Chart[];
}

export const isLibrary = ({ metadata }: Chart): boolean => metadata.type.toLowerCase() === 'library';

/** Where a dependency of the chart at `path` hangs. */
export const pathOfDependency = (path: string, dependency: Chart): string =>
  `${path}/charts/${dependency.metadata.name}`;

/** A definition of `crds/`, as it stands in its file. */
export interface CrdFile {
  /** With the path of its chart. */
  readonly source: string;
  readonly content: string;
}

/** Definitions of the chart and, after them, of its dependencies. */
export function crdFiles(chart: Chart, path = chart.metadata.name): readonly CrdFile[] {
  const own = chart.files
    .filter(({ name }) => name.startsWith('crds/') && /\.(ya?ml|json)$/i.test(name))
    .map(({ name, content }) => ({
      source: `${path}/${name}`,
      content: Buffer.from(content).toString('utf8'),
    }));
  return [...own, ...chart.dependencies.flatMap((d) => crdFiles(d, pathOfDependency(path, d)))];
}
