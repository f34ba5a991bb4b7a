/** Role-based access control, evaluated from the stored roles and bindings for every request. */
import type { Store } from '../store/storage.ts';
import type { JsonObject, KubeObject, UserInfo } from '../types.ts';

/** The attributes of a requested access. */
export interface AccessAttributes {
  readonly isResource: boolean;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** For requests without a resource. */
  readonly path: string;
}

interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

const RBAC = 'rbac.authorization.k8s.io';

interface Grant {
  readonly rules: readonly PolicyRule[];
  readonly reason: string;
}

/** Whether `user` has access, and by which binding. */
export function decide(store: Store, user: UserInfo, wanted: AccessAttributes): Decision {
  if (user.groups.includes('system:masters')) return { allowed: true, reason: '' };
  for (const grant of grants(store, user, wanted.isResource ? wanted.namespace : ''))
    if (grant.rules.some((rule) => covers(rule, wanted)))
      return { allowed: true, reason: `RBAC: allowed by ${grant.reason}` };
  return { allowed: false, reason: '' };
}

/** All rules of `user` in a namespace. */
export const rulesFor = (store: Store, user: UserInfo, namespace: string): PolicyRule[] =>
  [...grants(store, user, namespace)].flatMap((grant) => [...grant.rules]);

function* grants(store: Store, user: UserInfo, namespace: string): Generator<Grant> {
  for (const { obj } of store.resource(`${RBAC}/clusterrolebindings`).entries.values())
    yield* grantOf(store, user, obj, '', `ClusterRoleBinding "${obj.metadata.name}"`);
  if (namespace === '') return;
  for (const { obj } of store.resource(`${RBAC}/rolebindings`).list(`${namespace}/`))
    yield* grantOf(store, user, obj, namespace, `RoleBinding "${obj.metadata.name}/${namespace}"`);
}

function* grantOf(
  store: Store,
  user: UserInfo,
  binding: KubeObject,
  namespace: string,
  what: string,
): Generator<Grant> {
  const subject = ((binding['subjects'] ?? []) as JsonObject[]).find((s) => isSubject(s, user, namespace));
  if (!subject) return;
  const ref = binding['roleRef'] as { kind: string; name: string };
  const role =
    ref.kind === 'ClusterRole'
      ? store.get(`${RBAC}/clusterroles`, ref.name)
      : store.get(`${RBAC}/roles`, `${namespace}/${ref.name}`);
  const kind = String(subject['kind']);
  const who =
    kind === 'ServiceAccount'
      ? `${String(subject['name'])}/${namespaceOf(subject, namespace)}`
      : String(subject['name']);
  yield {
    rules: (role?.obj['rules'] ?? []) as PolicyRule[],
    reason: `${what} of ${ref.kind} "${ref.name}" to ${kind} "${who}"`,
  };
}

/** The namespace of a subject is optional. */
const namespaceOf = (subject: JsonObject, otherwise: string): string =>
  typeof subject['namespace'] === 'string' ? subject['namespace'] : otherwise;

function isSubject(subject: JsonObject, user: UserInfo, namespace: string): boolean {
  const name = String(subject['name']);
  switch (subject['kind']) {
    case 'User':
      return user.username === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.username === `system:serviceaccount:${namespaceOf(subject, namespace)}:${name}`;
    default:
      return false;
  }
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list?.some((item) => item === '*' || item === value) ?? false;

function covers(rule: PolicyRule, wanted: AccessAttributes): boolean {
  if (!has(rule.verbs, wanted.verb)) return false;
  if (!wanted.isResource) return rule.nonResourceURLs?.some((url) => coversUrl(url, wanted.path)) ?? false;
  if (!has(rule.apiGroups, wanted.group)) return false;
  const full = wanted.subresource === '' ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const isNamed =
    rule.resources?.some(
      (r) => r === '*' || r === full || (wanted.subresource !== '' && r === `*/${wanted.subresource}`),
    ) ?? false;
  if (!isNamed) return false;
  return !rule.resourceNames?.length || rule.resourceNames.includes(wanted.name);
}

const coversUrl = (url: string, path: string): boolean =>
  url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
