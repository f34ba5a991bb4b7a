/** The chart of the product, and the permissions in its roles. */
import { join } from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { seededRng } from '../../src/lib/rng.ts';
import type { Chart } from '../../src/templating/helm/chart.ts';
import { chartOfFolder } from '../../src/templating/helm/load.ts';
import { renderRound, type Rendering } from '../../src/templating/helm/render.ts';
import { filesIn } from './charts.ts';

const root = join(import.meta.dirname, '../..');
export const productChartFolder = join(root, 'charts/espalier');

const files = filesIn(productChartFolder);
const product = chartOfFolder(files);
const withoutSchema = chartOfFolder(new Map([...files].filter(([path]) => path !== 'values.schema.json')));

/** @throws the errors of `renderChart` */
export const renderProduct = (values: Fields, namespace = 'ls-system'): Rendering =>
  render(product, values, namespace);

/** Does not check the values against the schema, which takes most of the time. */
export const renderUnchecked = (values: Fields): Rendering => render(withoutSchema, values, 'ls-system');

function render(chart: Chart, values: Fields, namespace: string): Rendering {
  const release = { name: 'espalier', namespace, revision: 1, isUpgrade: false };
  const world = { clock: systemClock, rng: seededRng(1) };
  const round = renderRound(chart, { release, values }, { known: undefined, spentMs: 0 }, world);
  if (round.kind !== 'rendered') throw new Error('the chart of the product must not look up objects');
  return round.result;
}

/** The values of `deployments`. */
export type Deployments = 'together' | 'separate';

/** One rule of a role. */
export interface Right {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly names?: readonly string[];
  /** Component of the role. */
  readonly component: string;
  /** The comment above the rule. */
  readonly why: string;
}

/** All permissions that the chart can grant: of the controllers, then of the webhooks, the console and viewers. */
export function allRights(deployments: Deployments = 'together'): readonly Right[] {
  const { manifests } = renderProduct({
    deployments,
    rbac: { allNamespaces: true, serviceAccountTokens: true },
    config: {
      container: { namespace: 'pods' },
      lsDeployments: { deploymentsNamespace: 'health', lsHealthCheckName: 'own' },
    },
    webhooks: { enabled: true },
    console: { enabled: true },
  });
  const roles = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  const rank = ({ source }: { source: string }): number =>
    ['/webhooks/', '/console/', '/viewer'].findIndex((folder) => source.includes(folder));
  return roles.toSorted((a, b) => rank(a) - rank(b)).flatMap(rightsIn);
}

function rightsIn({ source, content, document }: Rendering['manifests'][number]): readonly Right[] {
  const reasons = [...content.matchAll(/^ *# (.+)\n *- apiGroups:/gm)].map(([, why = '']) => why);
  const labels = ownField(ownField(document, 'metadata'), 'labels');
  const rules = ownField(document, 'rules');
  if (!Array.isArray(rules) || rules.length !== reasons.length)
    throw new Error(`${source}: each rule needs a comment with its reason`);
  return rules.filter(isObject).map((rule, i) => ({
    group: String((rule['apiGroups'] as readonly string[])[0]),
    resources: rule['resources'] as readonly string[],
    verbs: rule['verbs'] as readonly string[],
    ...(rule['resourceNames'] !== undefined && { names: rule['resourceNames'] as readonly string[] }),
    component: String(ownField(labels, 'app.kubernetes.io/component')),
    why: reasons[i] ?? '',
  }));
}
