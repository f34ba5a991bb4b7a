/**
 * Which objects a root imports, and in which version. A hash of a value would let readers of the record guess small
 * values, so the record has uid and generation instead, which depend on no value. Pure except for reads of caches.
 */
import type { Installation, TargetImport } from '../../src/api/kinds/installation.ts';
import type { RecordedImport } from '../../src/api/kinds/jobrecord.ts';
import type { World } from '../../src/landscape/world.ts';
import type { Obj, View } from '../../src/runtime/types.ts';

type Lookups = Pick<World, 'dataObjects' | 'targets'>;

const versionOf = (object: View<Obj> | undefined): string | undefined =>
  object && `${object.metadata.uid ?? ''}/${String(object.metadata.generation ?? 0)}`;

export function importsOf({ metadata, spec }: View<Installation>, world: Lookups): RecordedImport[] {
  const at = (name: string): string => `${metadata.namespace ?? ''}/${name}`;
  const entry = (name: string, kind: string, object: string, version?: string): RecordedImport => ({
    name,
    kind,
    object,
    ...(version !== undefined && { version }),
  });
  const data = (spec.imports?.data ?? []).flatMap(({ name, dataRef, secretRef, configMapRef }) => {
    if (dataRef) return entry(name, 'DataObject', dataRef, versionOf(world.dataObjects.get(at(dataRef))));
    if (secretRef) return entry(name, 'Secret', secretRef.name);
    return configMapRef ? entry(name, 'ConfigMap', configMapRef.name) : [];
  });
  const targets = (spec.imports?.targets ?? []).flatMap((one) =>
    targetNames(one).map((name) => entry(one.name, 'Target', name, versionOf(world.targets.get(at(name))))),
  );
  return [...data, ...targets];
}

const targetNames = ({ target, targets, targetMap }: View<TargetImport>): readonly string[] => [
  ...(target ? [target] : []),
  ...(targets ?? []),
  ...Object.values(targetMap ?? {}),
];
