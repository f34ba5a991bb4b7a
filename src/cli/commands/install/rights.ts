/** Service accounts of the product, with their roles and bindings. Pure. */
import type { Obj } from '../../../runtime/types.ts';
import {
  apiVersionOf,
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
  serviceAccountKind,
} from './kinds.ts';
import { labelsOf, NAME, WEBHOOKS_NAME, type Component } from './names.ts';
import {
  podNamespaceRights,
  productNamespaceRights,
  clusterRights,
  healthCheckRights,
  webhookClusterRights,
  webhookNamespaceRights,
  rulesFor,
  type PolicyRule,
} from './role.ts';
import type { InstallSettings } from './settings.ts';

/** The service account that gets the rights. */
interface Account {
  readonly component: Component;
  readonly name: string;
  readonly namespace: string;
}

/** Rights of controllers and deployers. */
export function controllerRights({
  namespace,
  deployers,
  podNamespace,
  healthNamespace,
}: InstallSettings): readonly Obj[] {
  const account: Account = { component: 'controllers', name: NAME, namespace };
  const placed = [
    { place: namespace, rules: rulesFor(productNamespaceRights) },
    ...(podNamespace === undefined ? [] : [{ place: podNamespace, rules: rulesFor(podNamespaceRights) }]),
    ...(healthNamespace === undefined
      ? []
      : [{ place: healthNamespace, rules: rulesFor(healthCheckRights) }]),
  ];
  return [
    accountObject(account),
    ...inAllNamespaces(account, rulesFor(clusterRights, deployers)),
    // One role per namespace, even if there are several reasons for it.
    ...[...new Set(placed.map(({ place }) => place))].flatMap((place) =>
      inNamespace(
        account,
        place,
        placed.filter((each) => each.place === place).flatMap(({ rules }) => rules),
      ),
    ),
  ];
}

export function webhookRights({ namespace }: InstallSettings): readonly Obj[] {
  const account: Account = { component: 'webhooks', name: WEBHOOKS_NAME, namespace };
  return [
    accountObject(account),
    ...inAllNamespaces(account, rulesFor(webhookClusterRights)),
    ...inNamespace(account, namespace, rulesFor(webhookNamespaceRights)),
  ];
}

const accountObject = ({ component, name, namespace }: Account): Obj => ({
  apiVersion: apiVersionOf(serviceAccountKind),
  kind: serviceAccountKind.kind,
  metadata: { name, namespace, labels: labelsOf(component) },
});

const inAllNamespaces = (account: Account, rules: readonly PolicyRule[]): readonly Obj[] => [
  roleObject(clusterRoleKind, account, undefined, rules),
  bindingObject(clusterRoleBindingKind, clusterRoleKind.kind, account, undefined),
];

const inNamespace = (account: Account, place: string, rules: readonly PolicyRule[]): readonly Obj[] => [
  roleObject(roleKind, account, place, rules),
  bindingObject(roleBindingKind, roleKind.kind, account, place),
];

const roleObject = (
  kind: typeof roleKind,
  { component, name }: Account,
  namespace: string | undefined,
  rules: readonly PolicyRule[],
): Obj & { readonly rules: readonly PolicyRule[] } => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, ...(namespace !== undefined && { namespace }), labels: labelsOf(component) },
  rules,
});

const bindingObject = (
  kind: typeof roleBindingKind,
  role: string,
  { component, name, namespace: home }: Account,
  namespace: string | undefined,
): Obj & { readonly subjects: readonly object[]; readonly roleRef: object } => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, ...(namespace !== undefined && { namespace }), labels: labelsOf(component) },
  roleRef: { apiGroup: kind.group, kind: role, name },
  subjects: [{ kind: serviceAccountKind.kind, name, namespace: home }],
});
