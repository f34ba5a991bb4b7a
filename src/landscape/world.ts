/** The caches that all controllers of a process read, with the indexes that they need. */
import { table } from '../lib/objects.ts';
import { contextKind, type Context } from '../api/kinds/context.ts';
import { dataObjectKind, type DataObject } from '../api/kinds/dataobject.ts';
import { deployItemKind, type DeployItem } from '../api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../api/kinds/execution.ts';
import { installationKind, type Installation } from '../api/kinds/installation.ts';
import { syncObjectKind, type SyncObject } from '../api/kinds/syncobject.ts';
import { targetKind, type Target } from '../api/kinds/target.ts';
import { targetSyncKind, type TargetSync } from '../api/kinds/targetsync.ts';
import { exportedNames, importedNames, type ImportsAndExports } from '../api/data-names.ts';
import { parentInstallation } from '../api/job.ts';
import { labels } from '../api/labels.ts';
import type { Cache, CacheOptions, Caches, Kind, Obj, View } from '../runtime/types.ts';

export interface World {
  readonly installations: Cache<Installation>;
  readonly executions: Cache<Execution>;
  readonly deployItems: Cache<DeployItem>;
  readonly dataObjects: Cache<DataObject>;
  readonly targets: Cache<Target>;
  readonly contexts: Cache<Context>;
  readonly targetSyncs: Cache<TargetSync>;
  readonly syncObjects: Cache<SyncObject>;
}

export {
  ConfigMap as configMapKind,
  Namespace as namespaceKind,
  Secret as secretKind,
  type ConfigMap,
  type Secret,
} from '../runtime/core-kinds.ts';

/** Index names; values are `namespace/…`, or a uid for `owner`. */
export const index = {
  /** uid of the controlling owner */
  owner: 'owner',
  /** `namespace/execution` of a deploy item */
  managedBy: 'managed-by',
  /** type of a deploy item that a deployer has picked up */
  pickedUpType: 'picked-up-type',
  /** `namespace/scope` of a data object or target; the scope of roots is empty */
  context: 'context',
  /** `namespace/writer` of a data object or target */
  source: 'source',
  /** family and name of what an installation exports; see `namesInFamily` */
  exports: 'exports',
  /** family and name of what an installation imports; see `namesInFamily` */
  imports: 'imports',
} as const;

/** One of the caches of a world. */
export type WorldKind = keyof World;

const kinds = {
  installations: installationKind,
  executions: executionKind,
  deployItems: deployItemKind,
  dataObjects: dataObjectKind,
  targets: targetKind,
  contexts: contextKind,
  targetSyncs: targetSyncKind,
  syncObjects: syncObjectKind,
} as const;

export const worldKinds = Object.keys(kinds) as readonly WorldKind[];

/**
 * @param options of the cache of installations, which must be those of all controllers of installations
 * @param wanted the kinds that the process reads; using another one is a bug, and throws
 */
export function createWorld(
  caches: Caches,
  options: CacheOptions<Installation> = {},
  wanted: readonly WorldKind[] = worldKinds,
): World {
  const world = {};
  for (const name of worldKinds) {
    const given = name === 'installations' ? (options as unknown as CacheOptions<Obj>) : {};
    const cache = wanted.includes(name) ? caches.of(kinds[name] as unknown as Kind, given) : undefined;
    for (const [key, valuesOf] of Object.entries(indexes[name]))
      cache?.index(key, valuesOf as (obj: View<Obj>) => readonly string[]);
    Object.defineProperty(world, name, {
      enumerable: true,
      get() {
        if (!cache) throw new Error(`this process does not read ${name}`);
        return cache;
      },
    });
  }
  return world as World;
}

/** Names of exports or imports, each with the family in which it is unique: the roots of a namespace, or the children of one parent. */
export function namesInFamily(
  installation: View<Installation>,
  namesOf: (spec: ImportsAndExports) => ReadonlySet<string>,
): string[] {
  const { namespace = '', ownerReferences } = installation.metadata;
  const parent = parentInstallation(installation.metadata);
  const owner = ownerReferences?.find(({ name, kind }) => kind === 'Installation' && name === parent);
  const family = owner ? owner.uid : namespace;
  return [...namesOf(installation.spec)].map((name) => `${family}/${name}`);
}

const ownersOf = (obj: View<Obj>): string[] =>
  obj.metadata.ownerReferences?.filter((o) => o.controller === true).map((o) => o.uid) ?? [];

/** Objects of users have no label, and belong to the scope of roots. */
const scopeOf = ({ metadata }: View<Obj>): string[] => [
  `${metadata.namespace ?? ''}/${metadata.labels?.[labels.dataContext] ?? ''}`,
];

const byLabel =
  (label: string) =>
  (obj: View<Obj>): string[] => {
    const value = obj.metadata.labels?.[label];
    return value === undefined ? [] : [`${obj.metadata.namespace ?? ''}/${value}`];
  };

/** The indexes of data objects and targets. */
export const dataIndexes: Readonly<Record<string, (obj: View<Obj>) => readonly string[]>> = table({
  [index.context]: scopeOf,
  [index.source]: byLabel(labels.dataSource),
});

type Indexes = Readonly<Record<string, (obj: View<never>) => readonly string[]>>;

const indexes: Readonly<Record<WorldKind, Indexes>> = {
  installations: {
    [index.owner]: ownersOf,
    [index.exports]: (one: View<Installation>) => namesInFamily(one, exportedNames),
    [index.imports]: (one: View<Installation>) => namesInFamily(one, importedNames),
  },
  executions: { [index.owner]: ownersOf },
  deployItems: {
    [index.managedBy]: byLabel(labels.executionManagedBy),
    [index.pickedUpType]: ({ spec, status }: View<DeployItem>) => (status?.deployer?.name ? [spec.type] : []),
  },
  dataObjects: dataIndexes,
  targets: dataIndexes,
  contexts: {},
  targetSyncs: {},
  syncObjects: {},
};
