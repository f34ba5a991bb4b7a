/** Reports a fight with another client over a field: which field, and which field manager changes it. */
import { ownField } from '../../lib/objects.ts';
import type { Logger } from '../../observability/log.ts';
import { keyOf } from '../keys.ts';
import type { Client, ControllerFacts, Obj, View } from '../types.ts';
import type { Fight } from './fight-detector.ts';
import type { Recorder } from './recorder.ts';

export interface FightPorts<P extends Obj> {
  readonly controller: ControllerFacts<P>;
  readonly primary: View<P>;
  readonly client: Pick<Client, 'get'>;
  readonly recorder: Recorder;
  readonly log: Logger;
}

/** Reads the managed fields from the server, because caches drop them. Never rejects. */
export async function reportFight<P extends Obj>(fight: Fight, ports: FightPorts<P>): Promise<void> {
  const { controller, primary, client, recorder, log } = ports;
  const { kind, key } = fight;
  const field = fieldPath(fight.field);
  let manager: string | undefined;
  try {
    manager = managerOf(await client.get(kind, key), fight.field, controller.fieldManager);
  } catch (error) {
    log.debug({ err: error }, 'reading the managed fields failed');
  }
  const object = `${kind.kind} ${key}`;
  log.warn(
    { controller: controller.name, key: keyOf(primary), object, field, manager },
    'another client reverts a field, reconciles are delayed',
  );
  const who = manager === undefined ? 'another client' : `field manager "${manager}"`;
  const note = `${who} reverts ${field} of ${object} after each write of ${controller.name}; reconciles are delayed, let only one of them set the field`;
  recorder.record({
    regarding: primary,
    component: controller.name,
    type: 'Warning',
    reason: 'FieldConflict',
    note,
  });
}

interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

/** `spec.replicas`, `metadata.labels["example.org/team"]` */
export const fieldPath = (field: readonly string[]): string =>
  field
    .map((name, i) => (/^[\w-]+$/.test(name) ? `${i > 0 ? '.' : ''}${name}` : `[${JSON.stringify(name)}]`))
    .join('');

/** The last field manager besides `ours` that manages the field; undefined if there is none. */
export function managerOf(object: View<Obj>, field: readonly string[], ours: string): string | undefined {
  const names = field.map((name) => `f:${name}`);
  const manages = (fields: unknown): boolean =>
    names.reduce<unknown>((inner, name) => ownField(inner, name), fields) !== undefined;
  const others = ((object.metadata.managedFields ?? []) as readonly ManagedFields[]).filter(
    (entry) => entry.manager !== ours && manages(entry.fieldsV1),
  );
  return others.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1)).at(-1)?.manager;
}
