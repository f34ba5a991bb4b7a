/** A chart in memory. Its dependencies are charts as well; a path identifies a chart in the tree. */
import type { Fields } from '../../lib/objects.ts';
import { textOfYaml } from '../../lib/yaml-bytes.ts';
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
  /** Whether there is a `values.yaml`, even an empty one. */
  readonly hasValues: boolean;
  /** Content of `values.schema.json`. */
  readonly schema?: Uint8Array | undefined;
  readonly templates: readonly ChartFile[];
  /** Content of `Chart.lock`, or of `requirements.lock` in older charts. */
  readonly lock?: Uint8Array | undefined;
  /** All other files, including those in `crds/`. */
  readonly files: readonly ChartFile[];
  readonly dependencies: readonly Chart[];
}

export const isLibrary = ({ metadata }: Chart): boolean => metadata.type.toLowerCase() === 'library';

/** The path of a dependency of the chart at `path`. */
export const pathOfDependency = (path: string, dependency: Chart): string =>
  `${path}/charts/${dependency.metadata.name}`;

/** The content of a file in `crds/`. */
export interface CrdFile {
  /** Path of the file, including the path of its chart. */
  readonly source: string;
  readonly content: string;
}

/** CRD files of the chart, then those of its dependencies. */
export function crdFiles(chart: Chart, path = chart.metadata.name): readonly CrdFile[] {
  const own = chart.files
    .filter(({ name }) => name.startsWith('crds/') && /\.(ya?ml|json)$/i.test(name))
    .map(({ name, content }) => ({
      source: `${path}/${name}`,
      content: textOfYaml(content),
    }));
  return [...own, ...chart.dependencies.flatMap((d) => crdFiles(d, pathOfDependency(path, d)))];
}
