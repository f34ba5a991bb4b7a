/** Detects imports whose copies would overwrite the exports of another installation. Pure. */
import { exportedNames } from '../../src/api/data-names.ts';
import { importConflict } from '../../src/dataflow/objects.ts';
import { installationContext, objectName } from '../../src/dataflow/scope.ts';
import { isBeingDeleted } from '../../src/api/job.ts';
import { PhaseError, type Refusal } from '../../src/machine/decision.ts';
import { partitionChildren } from './children.ts';
import { asImport, refused } from './objects.ts';
import type { Inst } from './related-objects.ts';
import type { Snapshot, Upsert } from './snapshot.ts';

type Facts = Pick<Snapshot, 'self' | 'children' | 'rendered' | 'importUpserts'>;

interface CheckedImports {
  /** The objects that may be written. */
  readonly upserts: readonly Upsert[];
  /** The first import that must not be written. */
  readonly refusal?: Refusal;
}

/** If a child no longer exports an object, or is being deleted, the import may take over the object. */
export function checkImports({ self, children, rendered, importUpserts }: Facts): CheckedImports {
  const exporters = exportersIn(self, children, rendered.children);
  const upserts: Upsert[] = [];
  let refusal: Refusal | undefined;
  for (const candidate of importUpserts) {
    const { wanted, existing } = candidate;
    const id = `${wanted.kind}/${wanted.metadata.name}`;
    const conflict = importConflict(
      self,
      wanted,
      existing,
      (owner) => exporters.get(owner)?.has(id) ?? false,
    );
    if (conflict) {
      refusal ??= { ...refused(wanted, asImport, conflict), codes: ['ERR_CONFIGURATION_PROBLEM'] };
    } else upserts.push(candidate);
  }
  return { upserts, ...(refusal && { refusal }) };
}

/**
 * The objects that each child will export, as `<kind>/<name>`, keyed by the name of the child. Children that cannot
 * be rendered keep their current exports.
 */
function exportersIn(
  self: Inst,
  children: readonly Inst[],
  wanted: Snapshot['rendered']['children'],
): ReadonlyMap<string, ReadonlySet<string>> {
  const context = installationContext(self.metadata.name);
  const objects = ({ spec: { exports } }: Pick<Inst, 'spec'>): ReadonlySet<string> =>
    new Set(
      [...exportedNames({ exports })].map((id) => {
        const [kind = '', ...ref] = id.split('/');
        return `${kind === 'data' ? 'DataObject' : 'Target'}/${objectName(context, ref.join('/'))}`;
      }),
    );
  if (wanted instanceof PhaseError) {
    const remaining = children.filter(({ metadata }) => !isBeingDeleted(metadata));
    return new Map(remaining.map((child) => [child.metadata.name, objects(child)]));
  }
  const { living } = partitionChildren(self, wanted, children);
  return new Map(
    wanted.flatMap(({ name, object }) => {
      const child = living.get(name);
      return child ? [[child.metadata.name, objects(object)] as const] : [];
    }),
  );
}
