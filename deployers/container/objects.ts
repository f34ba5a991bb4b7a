/** The objects around a pod: secrets, service accounts and their roles. Pure. */
import type { Login } from '../../src/components/credentials.ts';
import { GROUP } from '../../src/api/labels.ts';
import { exactJson } from '../../src/lib/exact-json.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { annotations, keys, labels, secretTypes } from './contract.ts';
import type { Secret } from './kinds.ts';
import { labelsOf, type ItemRef } from './names.ts';

export interface ObjectOwner {
  readonly item: ItemRef;
  readonly namespace: string;
  readonly deployerId: string;
}

const metadataOf = (
  { item, namespace, deployerId }: ObjectOwner,
  name: string,
  more: Record<string, string> = {},
): Obj['metadata'] => ({
  name,
  namespace,
  labels: { ...labelsOf(item, deployerId), ...more },
  annotations: { [annotations.item]: `${item.namespace}/${item.name}` },
});

export function secretFor(
  owner: ObjectOwner,
  name: string,
  data: Readonly<Record<string, string>>,
  kind?: keyof typeof secretTypes,
): Secret {
  const isPull = kind === 'pullSecret';
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(owner, name, kind && { [labels.type]: secretTypes[kind] }),
    type: isPull ? 'kubernetes.io/dockerconfigjson' : 'Opaque',
    data: Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  };
}

export const configMapFor = (owner: ObjectOwner, name: string, data: Readonly<Record<string, string>>): Obj =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(owner, name), data }) as Obj;

export const accountFor = (owner: ObjectOwner, name: string): Obj =>
  ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadataOf(owner, name),
    automountServiceAccountToken: false,
  }) as Obj;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export const roleFor = (owner: ObjectOwner, name: string, rules: readonly Rule[]): Obj =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadataOf(owner, name),
    rules,
  }) as Obj;

export const bindingFor = (owner: ObjectOwner, name: string): Obj =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadataOf(owner, name),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: owner.namespace }],
  }) as Obj;

const on = (resource: string, verbs: readonly string[], resourceNames?: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
  ...(resourceNames && { resourceNames }),
});

/** The init container may only read the snapshot that it restores. */
export const initRules = (stateSecrets: readonly string[]): readonly Rule[] =>
  stateSecrets.length === 0 ? [] : [on('secrets', ['get'], stateSecrets)];

/**
 * The wait container watches its pod, writes the export, and creates parts of the state, whose names are not known
 * in advance.
 */
export const waitRules = (pod: string, exportSecret: string): readonly Rule[] => [
  on('pods', ['get', 'watch'], [pod]),
  on('secrets', ['create']),
  on('secrets', ['get', 'patch'], [exportSecret]),
];

/** Content of the file at `TARGET_PATH`: the whole target, with its managed fields. @param target undefined if the item has no target */
export function targetFile(target: Obj | undefined, content: string | undefined): string {
  if (!target) return 'null';
  return exactJson({
    target: { ...target, apiVersion: `${GROUP}/v1alpha1`, kind: 'Target' },
    content: content ?? '',
  });
}

/** The credentials for one registry, in the format of kubelets. @param host of the registry */
export function dockerConfig(
  host: string,
  login: Login | undefined,
  certificateAuthority?: string,
): Readonly<Record<string, string>> {
  const address = host === 'registry-1.docker.io' ? 'https://index.docker.io/v1/' : host;
  const entry = { ...(login && entryOf(login)), ...(certificateAuthority && { certificateAuthority }) };
  return { [keys.docker]: JSON.stringify({ auths: { [address]: entry } }) };
}

const entryOf = ({ username, password, identityToken }: Login): object => ({
  username,
  password,
  auth: Buffer.from(`${username}:${password}`).toString('base64'),
  ...(identityToken && { identitytoken: identityToken }),
});
