/** The accounts of the product, and what binds them to their rights. Pure. */
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
  amongPods,
  atHome,
  everywhere,
  ofHealthCheck,
  ofWebhooks,
  ofWebhooksAtHome,
  rulesFor,
  type PolicyRule,
} from './role.ts';
import type { InstallSettings } from './settings.ts';

/** Whose rights. */
interface Account {
  readonly component: Component;
  readonly name: string;
  readonly namespace: string;
}

/** For controllers and deployers. */
export function controllerRights({
  namespace,
  deployers,
  podNamespace,
  healthNamespace,
}: InstallSettings): readonly Obj[] {
  const account: Account = { component: 'controllers', name: NAME, namespace };
  const placed = [
    { place: namespace, rules: rulesFor(atHome) },
    ...(podNamespace === undefined ? [] : [{ place: podNamespace, rules: rulesFor(amongPods) }]),
    ...(healthNamespace === undefined ? [] : [{ place: healthNamespace, rules: rulesFor(ofHealthCheck) }]),
  ];
  return [
    accountObject(account),
    ...inAllNamespaces(account, rulesFor(everywhere, deployers)),
    // One role for a namespace, however many reasons there are.
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
    ...inAllNamespaces(account, rulesFor(ofWebhooks)),
    ...inNamespace(account, namespace, rulesFor(ofWebhooksAtHome)),
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
