/** Which findings `espalier doctor --fix` can mend, and with which write. All others need a person. Pure. */
import { annotations, operations } from '../../api/labels.ts';
import { dataObjectKind, installationKind, syncObjectKind, targetKind } from '../../api/landscaper-kinds.ts';
import type { Kind, Obj, View, Write } from '../../runtime/types.ts';
import { rootFinder, type Findable, type Finding } from './checks.ts';

/** A write that mends a finding if the object has not changed since it was read. */
interface Remedy {
  readonly what: string;
  readonly write: Write;
}

/** What to do about findings without a remedy. */
const BY_HAND: Readonly<Record<string, string>> = {
  'not-taken-up': 'start a deployer for this type, or remove the item from the blueprint',
  'stuck-deletion':
    'find out which controller serves the finalizers; read the risk before you use force-delete',
  'missing-owner': 'check whether the garbage collector of the cluster runs; it deletes such objects',
  'outdated-definition': 'an administrator of the cluster has to run the command',
  'expired-credential': 'put new credentials into the target or its Secret',
  'unreachable-target': 'check the address, the network and the credentials of the cluster',
};

export const stepsByHand = ({ check }: Finding): string => BY_HAND[check] ?? 'run the command yourself';

/** Undefined if the finding cannot be mended safely by a program. */
export function remedyOf(finding: Finding, all: Findable): Remedy | undefined {
  const object = objectOf(finding, all);
  if (!object) return undefined;
  if (finding.check === 'orphaned-export' || finding.check === 'leftover-lock') return deletion(object);
  if (finding.check === 'phase-without-job') return newJob(rootOf(object, all));
  return undefined;
}

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
}: Findable): readonly View<Obj>[] => [...installations, ...executions, ...deployItems, ...data, ...locks];

const rootOf = (object: View<Obj>, all: Findable): View<Obj> | undefined => {
  const name = rootFinder(all)(object);
  return all.installations.find(
    ({ metadata }) => metadata.name === name && metadata.namespace === object.metadata.namespace,
  );
};

const keyOf = ({ metadata }: View<Obj>): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const deletable: readonly Kind[] = [dataObjectKind, targetKind, syncObjectKind];

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
