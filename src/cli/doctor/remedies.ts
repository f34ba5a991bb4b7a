/** Which findings `espalier doctor --fix` can fix, and with which write. All others need a person. Pure. */
import { table } from '../../lib/objects.ts';
import { annotations, operations } from '../../api/labels.ts';
import { dataObjectKind, installationKind, syncObjectKind, targetKind } from '../../api/landscaper-kinds.ts';
import type { Kind, Obj, View, Write } from '../../runtime/types.ts';
import { CRD_MANAGER } from '../../landscape/ensure-crds.ts';
import { CustomResourceDefinition } from '../../runtime/core-kinds.ts';
import { leaseKind } from '../../runtime/manager/lease.ts';
import { rootFinder } from './roots.ts';
import type { Findable, Finding } from './findable.ts';

/** A write that fixes a finding if the object has not changed since it was read. */
interface Remedy {
  readonly what: string;
  readonly write: Write;
}

/** What to do about findings without a remedy. */
const BY_HAND: Readonly<Record<string, string>> = table({
  'controllers-not-running': 'start the controllers, or let them reach the API server',
  'different-parts':
    'start replicas with different parts with different --lease names; let an upgrade end first',
  'another-deployer': 'start both with the same --lease, give them different target selectors, or stop one',
  'job-not-begun': 'check whether the controllers run, may write, and work on this namespace',
  'not-taken-up': 'start a deployer for this type, or remove the item from the blueprint',
  'unserved-finalizer': 'start the program that removes the finalizer',
  'stuck-deletion':
    'find out which controller serves the finalizers; read the risk before you use force-delete',
  'deleted-below-root':
    'start a job of the root with the command; if the blueprint still contains the object, the job creates it again',
  'held-request': 'resume the jobs with the command, or check whether the controllers run',
  'left-behind': 'choose one of the ways out: manage the objects again, delete them, or forget them',
  'missing-owner': 'check whether the garbage collector of the cluster runs; it deletes such objects',
  'expired-credential': 'put new credentials into the target or its Secret',
  'unreachable-target': 'check the address, the network and the credentials of the cluster',
});

export const stepsByHand = ({ check }: Finding): string => BY_HAND[check] ?? 'run the command yourself';

/** Undefined if the finding cannot be fixed safely by a program. */
export function remedyOf(finding: Finding, all: Findable): Remedy | undefined {
  if (finding.check === 'outdated-definition') return application(finding, all);
  const object = objectOf(finding, all);
  if (!object) return undefined;
  if (DELETED.has(finding.check)) return deletion(object);
  if (finding.check === 'phase-without-job') return newJob(rootOf(object, all));
  return undefined;
}

const DELETED: ReadonlySet<string> = new Set(['orphaned-export', 'leftover-lock', 'stale-lease']);

const objectOf = ({ object }: Finding, all: Findable): View<Obj> | undefined =>
  objectsOf(all).find(
    ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}` === object,
  );

const objectsOf = ({
  installations,
  executions,
  deployItems,
  data,
  locks = [],
  leases = [],
}: Findable): readonly View<Obj>[] => [
  ...installations,
  ...executions,
  ...deployItems,
  ...data,
  ...locks,
  ...leases.map((lease) => ({ ...lease, kind: leaseKind.kind })),
];

const rootOf = (object: View<Obj>, all: Findable): View<Obj> | undefined => {
  const name = rootFinder(all)(object);
  return all.installations.find(
    ({ metadata }) => metadata.name === name && metadata.namespace === object.metadata.namespace,
  );
};

const keyOf = ({ metadata }: View<Obj>): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const deletable: readonly Kind[] = [dataObjectKind, targetKind, syncObjectKind, leaseKind];

function deletion(object: View<Obj>): Remedy | undefined {
  const { uid, resourceVersion } = object.metadata;
  const kind = deletable.find((one) => one.kind === object.kind);
  if (!kind) return undefined;
  return {
    what: `delete ${object.kind} ${keyOf(object)}`,
    write: {
      verb: 'delete',
      kind,
      key: keyOf(object),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** Fields of the definition that others have set, such as conversions, remain unless ours differ. */
function application({ object }: Finding, { definitions = [] }: Findable): Remedy | undefined {
  const definition = definitions.find(
    ({ metadata }) => object === `${CustomResourceDefinition.kind} ${metadata.name}`,
  );
  if (!definition) return undefined;
  return {
    what: `apply ${object}`,
    write: {
      verb: 'apply',
      kind: CustomResourceDefinition,
      object: definition as unknown as Obj,
      manager: CRD_MANAGER,
      force: true,
    },
  };
}

/** The server refuses the patch if the root has another uid or version. */
function newJob(root: View<Obj> | undefined): Remedy | undefined {
  if (!root) return undefined;
  const { uid, resourceVersion } = root.metadata;
  return {
    what: `request a job of Installation ${keyOf(root)}`,
    write: {
      verb: 'merge',
      kind: installationKind,
      key: keyOf(root),
      body: {
        metadata: { uid, resourceVersion, annotations: { [annotations.operation]: operations.reconcile } },
      },
    },
  };
}
