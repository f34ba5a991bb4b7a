/**
 * Decides which targets and secrets a TargetSync writes and deletes. Pure.
 *
 * A label marks the objects of the TargetSync. A target or secret with the same name but without the label belongs
 * to another owner: the controller does not change or delete it, and reports the conflict in the status.
 */
import { API_VERSION, TARGET_SYNC_OK, annotations, labels } from '../../src/api/labels.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
import { targetKind, type Target } from '../../src/api/kinds/target.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import { create, patch, remove, type Effect } from '../../src/machine/decision.ts';
import { accessOf, type Access } from '../../src/landscape/source-cluster.ts';
import { secretKind } from '../../src/landscape/world.ts';
import type { Meta, Obj, View } from '../../src/runtime/types.ts';
import type { Content, Host, Sync, Wanted } from './snapshot.ts';

export const TARGET_TYPE = 'landscaper.gardener.cloud/kubernetes-cluster';
/** The key in a synchronised secret that its target references. */
export const SECRET_KEY = 'kubeconfig';

interface Plan {
  /** Groups of writes, one for each target; only the order within a group matters. */
  readonly writes: readonly (readonly Effect[])[];
  /** Objects that are no longer needed. */
  readonly removals: readonly Effect[];
  /** Targets that cannot be written, with the reason. */
  readonly problems: readonly string[];
}

/** The other TargetSyncs of the namespace, without those under deletion. Only one may be active. */
export const activeSiblings = (self: Sync, all: Iterable<Sync>): readonly Sync[] =>
  [...all].filter((s) => s.metadata.uid !== self.metadata.uid && !isBeingDeleted(s.metadata));

/** Why the spec is invalid, as a sentence for its author. */
export function specError({ spec }: Sync): string | undefined {
  if (spec.secretNameExpression && spec.shootNameExpression) {
    return 'a targetsync object with both, secretNameExpression and shootNameExpression, is not allowed';
  }
  return spec.sourceNamespace ? undefined : 'sourceNamespace is empty';
}

export function planSync(self: Sync, wanted: readonly Wanted[], host: Host): Plan {
  const writes: Effect[][] = [];
  const problems: string[] = [];
  const taken = new Set<string>();
  for (const target of wanted) {
    const problem = conflictFor(self, target, host, taken);
    if (problem !== undefined) problems.push(problem);
    else writes.push(writesFor(self, target, host));
    taken.add(target.name);
  }
  const copied = new Set(wanted.filter(({ as }) => as !== 'source').map(({ name }) => name));
  const removals = removalsExcept({ targets: taken, secrets: copied }, self, host);
  return { writes: writes.filter((w) => w.length > 0), removals, problems };
}

/** All synchronised objects; they are deleted with the TargetSync. */
export const planRemoval = (self: Sync, host: Host): readonly Effect[] =>
  removalsExcept({ targets: new Set(), secrets: new Set() }, self, host);

// ---------------------------------------------------------------- ownership

/** Whether an object has our label and was not written by an installation. */
export const isSynced = ({ metadata }: View<Obj>): boolean =>
  metadata.labels?.[labels.targetSync] === TARGET_SYNC_OK &&
  metadata.labels[labels.dataContext] === undefined;

/** Whether a TargetSync created the target; a target without a secret was created by another owner. */
export const isSyncedTarget = (target: View<Target>): boolean =>
  isSynced(target) && target.spec.secretRef !== undefined && target.spec.secretRef !== null;

function conflictFor(
  self: Sync,
  target: Wanted,
  { targets, foreignSecrets }: Host,
  taken: ReadonlySet<string>,
): string | undefined {
  const { namespace = '' } = self.metadata;
  const where = `${namespace}/${target.name}`;
  if (taken.has(target.name)) {
    return `two targets would have the name ${where}; choose another targetToSourceName`;
  }
  if (target.as === 'unavailable') return target.why;
  const existing = targets.get(target.name);
  if (existing && !isSyncedTarget(existing)) {
    return `target ${where} was not created by a TargetSync and is not changed; rename one of the two`;
  }
  if (target.as === 'source') return undefined;
  if (target.name === accessOf(self).name) {
    return `secret ${where} contains the credentials for the source cluster and is not overwritten by a secret of the same name`;
  }
  if (foreignSecrets.has(target.name)) {
    return `secret ${where} was not created by a TargetSync and is not changed; rename one of the two`;
  }
  return undefined;
}

// ---------------------------------------------------------------- writes

/** The secret is written before the target, so that the target never references a missing secret. */
function writesFor(self: Sync, target: Wanted, host: Host): Effect[] {
  switch (target.as) {
    case 'copy': {
      const stamp = target.renewedAt && { [annotations.lastTargetSync]: target.renewedAt };
      return [
        ...secretWrites(self, target.name, target.content, host),
        ...targetWrites(self, target.name, ownSecret(target.name), host, stamp || {}),
      ];
    }
    case 'kept':
      return targetWrites(self, target.name, ownSecret(target.name), host);
    case 'source':
      return targetWrites(self, target.name, accessOf(self), host);
    case 'unavailable':
      return [];
  }
}

const ownSecret = (name: string): Access => ({ name, key: SECRET_KEY });

function secretWrites(self: Sync, name: string, { type, data }: Content, { secrets }: Host): Effect[] {
  const existing = secrets.get(name);
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: ownMeta(self, name), type, data };
  if (!existing) return [create(secretKind, object)];
  // The type of a secret is immutable.
  if ((existing.type ?? 'Opaque') !== type) return [remove(secretKind, existing), create(secretKind, object)];
  const body = mergeDiff({ data: existing.data ?? {} }, { data });
  return body ? [patch(secretKind, existing, body)] : [];
}

function targetWrites(
  self: Sync,
  name: string,
  secretRef: Access,
  { targets }: Host,
  stamps: Readonly<Record<string, string>> = {},
): Effect[] {
  const spec = { type: TARGET_TYPE, secretRef: { ...secretRef } };
  const existing = targets.get(name);
  if (!existing) {
    const metadata: Meta = { ...ownMeta(self, name), ...(hasEntries(stamps) && { annotations: stamps }) };
    return [create(targetKind, { apiVersion: API_VERSION, kind: 'Target', metadata, spec } as Obj)];
  }
  const body = mergeDiff(
    { spec: existing.spec, metadata: { annotations: existing.metadata.annotations ?? {} } },
    { spec, metadata: { annotations: { ...existing.metadata.annotations, ...stamps } } },
  );
  return body ? [patch(targetKind, existing, body)] : [];
}

const hasEntries = (map: object): boolean => Object.keys(map).length > 0;

const ownMeta = ({ metadata }: Sync, name: string): Meta => ({
  name,
  namespace: metadata.namespace ?? '',
  labels: { [labels.targetSync]: TARGET_SYNC_OK },
});

// ---------------------------------------------------------------- deletions

interface Kept {
  readonly targets: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

/** Secrets are deleted first: after a failure in between, the target still shows that something is left. */
function removalsExcept(kept: Kept, self: Sync, { targets, secrets }: Host): Effect[] {
  const access = accessOf(self).name;
  const staleSecrets = [...secrets.values()].filter(
    (s) => isSynced(s) && isStale(s, kept.secrets) && s.metadata.name !== access,
  );
  const staleTargets = [...targets.values()].filter((t) => isSyncedTarget(t) && isStale(t, kept.targets));
  return [
    ...staleSecrets.map((s) => remove(secretKind, s)),
    ...staleTargets.map((t) => remove(targetKind, t)),
  ];
}

const isStale = ({ metadata }: View<Obj>, kept: ReadonlySet<string>): boolean =>
  !kept.has(metadata.name) && !isBeingDeleted(metadata);
