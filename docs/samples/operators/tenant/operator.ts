/** Gives each tenant its namespaces, with a quota, an isolated network and the rights of its members. */
import {
  Namespace,
  NetworkPolicy,
  RoleBinding,
  type Kind,
  type Manager,
  type Obj,
  type ObjectOf,
  type View,
} from 'espalier/runtime';
import { addWorkflowController, isGone, kubernetesBulk, type Desired } from 'espalier/workflow';

export interface Tenant extends Obj {
  spec: {
    namespaces: string[];
    /** Of each namespace, such as `{ pods: '10' }`. */
    quota?: Record<string, string>;
    members?: { user: string; role: 'admin' | 'edit' | 'view' }[];
  };
  status?: { namespaces?: string[]; error?: string };
}

export const tenants: Kind<Tenant> = {
  group: 'tenancy.example.org',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  namespaced: false,
};

/** The runtime has no constant for this kind. */
export type ResourceQuota = ObjectOf<{ spec?: { hard?: Record<string, string> } }>;
export const ResourceQuota: Kind<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};

const LABEL = 'tenancy.example.org/tenant';
const RBAC = 'rbac.authorization.k8s.io';
const labelled = ({ metadata }: View<Tenant>) => ({ [LABEL]: metadata.name });
const namesOf = ({ metadata, spec }: View<Tenant>): string[] =>
  spec.namespaces.map((name) => `${metadata.name}-${name}`);

/** A dependent with objects in every namespace of the tenant. */
const inNamespaces = <R extends Obj>(
  kind: Kind<R>,
  desiredIn: (tenant: View<Tenant>) => readonly Desired<R>[],
) =>
  kubernetesBulk<R, Tenant>({
    kind,
    selector: LABEL,
    idOf: ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    desiredAll: (tenant) =>
      new Map(
        namesOf(tenant).flatMap((namespace) =>
          desiredIn(tenant).map((object) => {
            const metadata = { ...object.metadata, namespace, labels: labelled(tenant) };
            return [`${namespace}/${metadata.name}`, { ...object, metadata }];
          }),
        ),
      ),
  });

const namespaces = kubernetesBulk<Namespace, Tenant>({
  kind: Namespace,
  selector: LABEL,
  desiredAll: (tenant) =>
    new Map(namesOf(tenant).map((name) => [name, { metadata: { name, labels: labelled(tenant) } }])),
});

const quotas = inNamespaces<ResourceQuota>(ResourceQuota, ({ spec: { quota } }) =>
  quota ? [{ metadata: { name: 'tenant' }, spec: { hard: { ...quota } } }] : [],
);

/** Pods accept connections from namespaces of the same tenant only. */
const networks = inNamespaces<NetworkPolicy>(NetworkPolicy, (tenant) => [
  {
    metadata: { name: 'tenant' },
    spec: {
      podSelector: {},
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ namespaceSelector: { matchLabels: labelled(tenant) } }] }],
    },
  },
]);

const rights = inNamespaces<RoleBinding>(RoleBinding, ({ spec: { members = [] } }) =>
  (['admin', 'edit', 'view'] as const).flatMap((role) => {
    const users = members.filter((member) => member.role === role).map(({ user }) => user);
    return users.length === 0
      ? []
      : [
          {
            metadata: { name: `tenant-${role}` },
            roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
            subjects: users.map((name) => ({ apiGroup: RBAC, kind: 'User', name })),
          },
        ];
  }),
);

/** Adds the tenant controller to a manager. */
export const addTenants = (manager: Manager) =>
  addWorkflowController<Tenant>(manager, {
    name: 'tenants',
    kind: tenants,
    workflow: {
      nodes: [
        { use: namespaces, deleted: isGone },
        { use: networks, dependsOn: ['namespace'] },
        { use: quotas, dependsOn: ['namespace'] },
        { use: rights, dependsOn: ['namespace', 'networkPolicy'] },
      ],
    },
    reconciler: {
      async reconcile(tenant, ctx) {
        return { write: 'status', object: { ...ctx.draft(), status: { namespaces: namesOf(tenant) } } };
      },
      async onError(_tenant, ctx, error) {
        return { retry: true, status: { ...ctx.draft(), status: { error: String(error) } } };
      },
    },
  });
