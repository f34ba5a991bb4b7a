/** Kubernetes kinds that commands write. */
import { installationKind } from '../api/kinds/installation.ts';
import { targetKind } from '../api/kinds/target.ts';
import type { Client, Kind, Obj } from '../runtime/types.ts';
import { CommandError } from './errors.ts';

export const namespaceKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const configMapKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

const known: readonly Kind[] = [namespaceKind, configMapKind, installationKind, targetKind];

/** Applies objects one after the other. */
export async function applyAll(client: Client, objects: readonly Obj[]): Promise<void> {
  for (const object of objects) {
    const kind = known.find((k) => k.kind === object.kind);
    if (!kind)
      throw new CommandError(
        `cannot apply an object of kind ${object.kind}; supported kinds are ${known.map((k) => k.kind).join(', ')}`,
      );
    await client.send({ verb: 'apply', kind, object, manager: 'espalier-cli', force: true });
  }
}

export const namespaceObject = (name: string): Obj => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});
