/** Splits the output of templates into manifests, separates the hooks, and sorts by the order of installation. */
import { byCodePoint } from '../../lib/gojson.ts';
import { isObject, ownField, table } from '../../lib/objects.ts';
import { goTextOf } from '../../lib/yaml-strings.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { isPartial } from './engine.ts';
import { trimSpace } from '../go/spaces.ts';
import { pagesOf } from './documents.ts';
import { ManifestUnreadable } from './errors.ts';

export interface RenderedManifest {
  /** Path of the template. */
  readonly source: string;
  /** As Helm prints and stores it: without the white space around it. */
  readonly content: string;
  /** Empty if the document has none. */
  readonly kind: string;
  /** The document as JSON; only a map can be a Kubernetes object. */
  readonly document: unknown;
}

export interface Hook extends RenderedManifest {
  /** For example `pre-install`. */
  readonly events: readonly string[];
}

export interface Manifests {
  readonly manifests: readonly RenderedManifest[];
  readonly hooks: readonly Hook[];
}

/** The order in which Helm installs; other kinds follow, by name. */
export const INSTALL_ORDER: readonly string[] = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
];
const rank = new Map(INSTALL_ORDER.map((kind, i) => [kind, i]));

const HOOK = 'helm.sh/hook';
const EVENTS: Readonly<Record<string, string>> = table({
  'pre-install': 'pre-install',
  'post-install': 'post-install',
  'pre-delete': 'pre-delete',
  'post-delete': 'post-delete',
  'pre-upgrade': 'pre-upgrade',
  'post-upgrade': 'post-upgrade',
  'pre-rollback': 'pre-rollback',
  'post-rollback': 'post-rollback',
  test: 'test',
  'test-success': 'test',
});

/** Whether the hook belongs to `helm test`. */
export const isTestHook = ({ events }: Pick<Hook, 'events'>): boolean => events.includes('test');

/** @throws ManifestUnreadable */
export function sortManifests(printed: ReadonlyMap<string, string>): Manifests {
  const manifests: RenderedManifest[] = [];
  const hooks: Hook[] = [];
  for (const [source, text] of [...printed].sort(([a], [b]) => byCodePoint(a, b))) {
    if (isPartial(source)) continue;
    for (const content of pagesOf(text)) {
      const manifest = read(source, content);
      const hook = annotation(manifest.document, HOOK);
      if (hook === undefined) manifests.push(manifest);
      else {
        const events = hook.split(',').map((event) => EVENTS[trimSpace(event).toLowerCase()]);
        // A hook with an unknown event never runs, and Helm drops it.
        if (events.every((event) => event !== undefined)) hooks.push({ ...manifest, events });
      }
    }
  }
  return { manifests: manifests.sort(byKind), hooks: hooks.sort(byKind) };
}

function byKind(a: RenderedManifest, b: RenderedManifest): number {
  const x = rank.get(a.kind);
  const y = rank.get(b.kind);
  if (x === undefined && y === undefined) return byCodePoint(a.kind, b.kind);
  return (x ?? INSTALL_ORDER.length) - (y ?? INSTALL_ORDER.length);
}

function read(source: string, content: string): RenderedManifest {
  let document: unknown;
  try {
    document = parseYaml(`${content}\n`, { integers: 'exact' });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ManifestUnreadable(
      `YAML parse error on ${source}: error converting YAML to JSON: ${error.message}`,
      { cause: error },
    );
  }
  if (document !== null && !isObject(document)) {
    throw new ManifestUnreadable(`YAML parse error on ${source}: the document is no map`);
  }
  checkHead(source, document);
  const kind = goTextOf(ownField(document, 'kind'));
  return { source, content, kind: typeof kind === 'string' ? kind : '', document };
}

/** The fields that Helm reads from every document as strings. */
function checkHead(source: string, document: unknown): void {
  const expectScalar = (value: unknown, what: string): void => {
    if (value === null || typeof value !== 'object') return;
    throw new ManifestUnreadable(`YAML parse error on ${source}: ${what} must be a string`);
  };
  const metadata = ownField(document, 'metadata');
  expectScalar(ownField(document, 'apiVersion'), 'apiVersion');
  expectScalar(ownField(document, 'kind'), 'kind');
  expectScalar(ownField(metadata, 'name'), 'metadata.name');
  const annotations = ownField(metadata, 'annotations');
  if (!isObject(annotations)) return;
  for (const [key, value] of Object.entries(annotations)) expectScalar(value, `the annotation ${key}`);
}

/** An annotation as Helm reads it: a number counts as a string. An object with one is refused when it is applied. */
export function annotation(document: unknown, key: string): string | undefined {
  const value = goTextOf(ownField(ownField(ownField(document, 'metadata'), 'annotations'), key));
  return typeof value === 'string' ? value : undefined;
}
