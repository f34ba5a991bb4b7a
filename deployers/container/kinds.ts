/** The kinds of the host cluster that the container deployer uses. */
import type { Fields } from '../../src/lib/objects.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';

export { SECRET, TARGET, type Secret } from '../sdk/kinds.ts';

export interface ContainerState extends Fields {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
}

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly imageID?: string;
  readonly state?: ContainerState;
}

export interface Pod extends Obj {
  spec?: Fields;
  status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

const core = <T extends Obj>(kind: string, plural: string): Kind<T> => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});

const rbac = (kind: string, plural: string): Kind<Obj> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});

export const POD = core<Pod>('Pod', 'pods');
export const CONFIG_MAP = core<Obj>('ConfigMap', 'configmaps');
export const SERVICE_ACCOUNT = core<Obj>('ServiceAccount', 'serviceaccounts');
export const ROLE = rbac('Role', 'roles');
export const ROLE_BINDING = rbac('RoleBinding', 'rolebindings');
