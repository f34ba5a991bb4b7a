/** TargetSyncs and the objects they create, with good defaults. */
import { TARGET_TYPE } from '../../../../controllers/targetsync/decide.ts';
import { byName, type Host, type Sync } from '../../../../controllers/targetsync/snapshot.ts';
import { API_VERSION, labels } from '../../../../src/api/labels.ts';
import type { Target } from '../../../../src/api/kinds/target.ts';
import type { TargetSync, TargetSyncSpec } from '../../../../src/api/kinds/targetsync.ts';
import type { Secret } from '../../../../src/landscape/world.ts';
import type { View } from '../../../../src/runtime/types.ts';

export const OK = { [labels.targetSync]: 'ok' };

export interface Parts {
  readonly meta?: object;
  readonly status?: TargetSync['status'];
}

export const sync = (spec: Partial<TargetSyncSpec> = {}, { meta, status }: Parts = {}): Sync => ({
  apiVersion: API_VERSION,
  kind: 'TargetSync',
  metadata: { name: 'sync', namespace: 'demo', uid: 'uid-sync', ...meta },
  spec: { sourceNamespace: 'clusters', secretRef: { name: 'source-access', key: 'kubeconfig' }, ...spec },
  ...(status && { status }),
});

export const target = (name: string, spec: object = {}, meta: object = {}): Target => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name, namespace: 'demo', uid: `target-${name}`, labels: OK, ...meta },
  spec: { type: TARGET_TYPE, secretRef: { name, key: 'kubeconfig' }, ...spec },
});

export const secret = (name: string, value = 'one', more: Partial<Secret> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'demo', uid: `secret-${name}`, labels: OK },
  type: 'Opaque',
  data: { kubeconfig: value },
  ...more,
});

/** The objects in the namespace, as lists. */
export interface HostObjects {
  readonly targets?: readonly View<Target>[];
  readonly secrets?: readonly View<Secret>[];
  readonly foreignSecrets?: ReadonlySet<string>;
}

export const host = ({ targets = [], secrets = [], foreignSecrets = new Set() }: HostObjects = {}): Host => ({
  targets: byName(targets),
  secrets: byName(secrets),
  foreignSecrets,
});
