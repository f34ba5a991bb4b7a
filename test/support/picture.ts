/**
 * The final state of a namespace, without random values and times: generated names become the path to the object, job
 * ids become `current` or `earlier`, times are removed. Two runs of one story give equal pictures.
 */
import { readDeployItems, type Execution } from '../../src/api/kinds/execution.ts';
import { annotations, labels } from '../../src/api/labels.ts';
import { secretKind } from '../../src/landscape/world.ts';
import type { Obj, View } from '../../src/runtime/types.ts';
import type { Scene } from './scene.ts';

type Json = Record<string, unknown>;
type Anything = View<Obj> & { readonly spec?: Json; readonly status?: Json; readonly data?: unknown };

/** Fields that contain only a time. */
const TIMES = /Time$|^transitionTimes$/;
/** Generated, or set by the server. */
const CHANCE = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generateName',
  'managedFields',
  'generation',
  'selfLink',
];

/** Each object as a JSON string, by its path; compare with deep equality. */
export async function picture(scene: Scene): Promise<Record<string, unknown>> {
  const { world, client } = scene.cluster;
  const secrets: Anything[] = [];
  for await (const page of client.list(secretKind, { namespace: scene.ns })) {
    secrets.push(...(page.items as unknown as Anything[]).filter((s) => (s as Json)['type'] === 'Opaque'));
  }
  const caches = [world.installations, world.executions, world.deployItems, world.dataObjects, world.targets];
  const objects = withoutGarbage([
    ...caches.flatMap((cache) => [...cache.list(scene.ns)] as Anything[]),
    ...secrets,
  ]);
  const names = aliases(objects, scene.ns);
  const jobs = new Set(objects.map((o) => o.status?.['jobID']).filter(Boolean) as string[]);
  const paint = (value: unknown): unknown => paintValue(value, names, jobs);
  const all = objects.map((object) => [
    `${object.kind} ${names.get(object.metadata.name) ?? ''}`,
    paint(bare(object)),
  ]);
  const result: Record<string, unknown> = {};
  for (const [path, value] of all as [string, unknown][]) {
    let key = path;
    while (key in result) key += ' (again)';
    result[key] = value;
  }
  return Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A control plane without controllers collects no garbage: an object whose owners are gone counts as deleted. */
function withoutGarbage(objects: readonly Anything[]): Anything[] {
  const present = new Set(objects.map((o) => o.metadata.uid));
  const kept = objects.filter(({ metadata: { ownerReferences: owners = [] } }) => {
    return owners.length === 0 || owners.some(({ uid }) => present.has(uid));
  });
  return kept.length === objects.length ? kept : withoutGarbage(kept);
}

/** The scope and key of a value; undefined in the scope of the namespace. */
function placeOf(l: Readonly<Record<string, string>>, pathOf: (name: string) => string): string | undefined {
  const [prefix = '', owner = ''] = (l[labels.dataContext] ?? '').split('.', 2);
  if (!owner) return undefined;
  const place = [
    `${prefix}.${pathOf(owner)}`,
    l[labels.dataSourceType],
    l[labels.dataKey],
    l[labels.dataIndex],
  ];
  return place.filter((part) => part !== undefined).join('|');
}

/** Paths instead of names: `stack/a`, `stack/a.app`, a data object by its scope and key. */
function aliases(objects: readonly Anything[], ns: string): Map<string, string> {
  const names = new Map<string, string>([[ns, '<namespace>']]);
  const byName = new Map(objects.filter((o) => o.kind === 'Installation').map((o) => [o.metadata.name, o]));
  const pathOf = (name: string): string => {
    const { labels: l, annotations: a } = byName.get(name)?.metadata ?? {};
    const parent = l?.[labels.encompassedBy];
    return parent === undefined ? name : `${pathOf(parent)}/${a?.[annotations.subinstallationName] ?? '?'}`;
  };
  for (const name of byName.keys()) names.set(name, pathOf(name));
  for (const { kind, metadata } of objects) {
    const l = metadata.labels ?? {};
    if (kind === 'Execution') names.set(metadata.name, pathOf(metadata.name));
    if (kind === 'DeployItem') {
      const execution = l[labels.executionManagedBy] ?? '?';
      names.set(metadata.name, `${names.get(execution) ?? execution}.${l[labels.executionName] ?? '?'}`);
    }
    if (kind === 'DataObject' || kind === 'Target')
      names.set(metadata.name, placeOf(l, pathOf) ?? metadata.name);
  }
  for (const { kind, metadata } of objects) {
    const [owner] = metadata.ownerReferences ?? [];
    if (kind === 'Secret' && owner)
      names.set(metadata.name, `export of ${names.get(owner.name) ?? owner.name}`);
  }
  // Longer names first: the name of an item begins with that of its execution.
  return new Map([...names].sort(([a], [b]) => b.length - a.length));
}

function bare(object: Anything): Json {
  const { metadata, spec, status, ...rest } = object as Anything & Json;
  const meta: Json = { ...metadata };
  for (const field of CHANCE) delete meta[field];
  delete meta['name'];
  const {
    [annotations.reconcileTime]: _time,
    [annotations.touch]: _touch,
    ...notes
  } = metadata.annotations ?? {};
  meta['annotations'] = notes;
  const isPacked = object.kind === 'Execution';
  const shown = isPacked
    ? { context: spec?.['context'], deployItems: readDeployItems(spec as unknown as Execution['spec']) }
    : spec;
  return {
    ...rest,
    metadata: meta,
    ...(shown && { spec: shown }),
    ...(status && { status: bareStatus(status) }),
  };
}

/**
 * The generation counts changes of the spec, which a repeated job may have made once more; `firstError` and
 * `lastErrors` report what happened on the way, not how it ended.
 */
function bareStatus({
  observedGeneration: _g,
  firstError: _f,
  lastErrors: _l,
  deployer,
  ...status
}: Json): Json {
  return { ...status, ...(deployer !== undefined && { deployer: (deployer as Json)['name'] }) };
}

/** The differences, one line each: `Execution web .status.phase is "Failed" instead of "Succeeded"`. */
export function differences(actual: unknown, expected: unknown, path = ''): string[] {
  const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
  if (isObject(actual) && isObject(expected)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      differences(actual[key], expected[key], path === '' ? `${key} ` : `${path}.${key}`),
    );
  }
  const [is, should] = [actual, expected].map((value) => (JSON.stringify(value) ?? 'missing').slice(0, 300));
  return is === should ? [] : [`${path} is ${is ?? ''} instead of ${should ?? ''}`];
}

function paintValue(value: unknown, names: Map<string, string>, jobs: ReadonlySet<string>): unknown {
  if (typeof value === 'string') {
    if (jobs.has(value)) return '<job>';
    let text = value;
    for (const [name, path] of names) if (name !== path) text = text.replaceAll(name, path);
    return text;
  }
  if (Array.isArray(value)) return value.map((element) => paintValue(element, names, jobs));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Json)
    .filter(([key, field]) => !TIMES.test(key) && key !== 'uid' && field !== undefined)
    .map(([key, field]) => [key, paintValue(field, names, jobs)] as const);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
