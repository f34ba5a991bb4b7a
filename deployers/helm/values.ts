/** Exports from the values of the chart; they need no cluster. */
import {
  helmVersionFields,
  versionFields,
  type Capabilities,
} from '../../src/templating/helm/capabilities.ts';
import { JsonPathError } from '../../src/lib/json-path.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import type { ChartRunner, PackedChart } from '../../src/templating/helm/work.ts';
import { messageOf, RetryError } from '../sdk/errors.ts';
import { evaluate } from '../objects/json-path.ts';
import { PathBudget } from '../objects/path-budget.ts';
import { configurationError } from './errors.ts';
import type { HelmContext } from './helm-context.ts';

/**
 * Values keyed by the dotted keys of their exports.
 * @throws RetryError if a value does not exist; ConfigurationError if the values do not match the chart
 */
export async function valueExports(
  { config }: HelmContext,
  chart: PackedChart,
  capabilities: Capabilities,
  charts: ChartRunner,
): Promise<ReadonlyMap<string, unknown>> {
  const wanted = config.exports.filter(({ from }) => !from);
  if (wanted.length === 0) return new Map();
  const { metadata, values } = await explained(charts.chartValues({ chart, values: config.values }));
  const { document, name, version } = metadata;
  const root = {
    Chart: { ...document, Name: name, Version: version, AppVersion: document['appVersion'] },
    Capabilities: {
      KubeVersion: versionFields(capabilities),
      APIVersions: capabilities.apiVersions,
      HelmVersion: helmVersionFields,
    },
    Release: {
      Name: config.name,
      Namespace: config.namespace,
      IsInstall: true,
      IsUpgrade: false,
      Revision: 0,
      Service: 'Helm',
    },
    Values: values,
  };
  const budget = new PathBudget();
  return new Map(wanted.map(({ key, jsonPath }) => [key, valueAt(root, key, jsonPath, budget)]));
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw configurationError('PrepareHelmValues', error.message, error);
  }
}

function valueAt(root: object, key: string, path: string, budget: PathBudget): unknown {
  const fail = (why: string): RetryError =>
    new RetryError({
      operation: 'ApplyFile',
      reason: 'ConstructExportFromValues',
      message: `export ${key}: ${why}`,
    });
  try {
    const [first] = evaluate(path, root, budget) ?? [];
    if (first !== undefined) return first;
  } catch (error) {
    if (error instanceof JsonPathError) throw fail(messageOf(error));
    throw error;
  }
  throw fail(`the values have no field ${path}`);
}
