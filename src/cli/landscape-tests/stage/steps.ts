/** The steps of a case: what users do, and what happens to them. */
import { installationKind } from '../../../api/landscaper-kinds.ts';
import { API_VERSION, annotations, operations } from '../../../api/labels.ts';
import { hintFor } from '../../../lib/closest.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { joinKey } from '../../../runtime/keys.ts';
import { createDiscovery } from '../../../runtime/transport/discovery.ts';
import type { Key, Kind, Obj } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';
import type { PreparedDocument } from '../../commands/apply/prepare.ts';
import type { Answers, Step } from '../file/schema.ts';
import { applyDocuments, installationsIn } from './landscape.ts';
import type { Stage } from './stage.ts';

/**
 * @param layers the answers of the file and of the case, which the answers of a step are added to
 * @returns whether the step is over only when all jobs have ended
 * @throws CommandError if the step cannot be taken
 */
export async function takeStep(
  step: Step,
  stage: Stage,
  documents: readonly PreparedDocument[],
  layers: readonly (Answers | undefined)[],
): Promise<boolean> {
  if (step.install !== undefined) {
    const names = listOf(step.install).filter((name) => name !== 'all');
    await applyDocuments(names.length > 0 ? installationsIn(documents, names) : documents, stage);
    return true;
  }
  if (step.reconcile !== undefined) {
    for (const name of listOf(step.reconcile)) await annotate(name, operations.reconcile, stage);
    return true;
  }
  if (step.interrupt !== undefined) {
    for (const name of listOf(step.interrupt)) await annotate(name, operations.interrupt, stage);
    return true;
  }
  if (step.delete !== undefined) {
    await remove(step.delete, stage);
    return true;
  }
  if (step.change !== undefined) {
    const { kind, key } = await referenceOf(step.change, stage);
    const { apiVersion: _version, kind: _kind, metadata, ...fields } = step.change;
    const { name: _name, namespace: _namespace, ...more } = metadata as Obj['metadata'];
    await sent(stage, kind, key, { ...fields, ...(Object.keys(more).length > 0 && { metadata: more }) });
    return true;
  }
  if (step.imports !== undefined) {
    for (const [name, data] of Object.entries(step.imports)) {
      const object = {
        apiVersion: API_VERSION,
        kind: 'DataObject',
        metadata: { name, namespace: stage.home },
        data,
      };
      const { kind } = await referenceOf(object, stage);
      await stage.client.send({
        verb: 'apply',
        kind,
        object: object,
        manager: 'espalier-test',
        force: true,
      });
    }
    return true;
  }
  if (step.answers !== undefined) stage.answers.set(...layers, step.answers);
  if (step.outage !== undefined) stage.outageUntil(stage.clock.now() + parseDuration(step.outage));
  return false;
}

const listOf = (names: string | readonly string[]): readonly string[] =>
  typeof names === 'string' ? [names] : names;

/** A root by its name, or by namespace and name: `other:shop`. */
function keyOfRoot(path: string, { home }: Stage): Key {
  const [namespace, name] = path.includes(':') ? path.split(':') : [home, path];
  return joinKey(namespace, name ?? '');
}

async function annotate(path: string, operation: string, stage: Stage): Promise<void> {
  const body = { metadata: { annotations: { [annotations.operation]: operation } } };
  await sent(stage, installationKind, keyOfRoot(path, stage), body);
}

async function sent(stage: Stage, kind: Kind, key: Key, body: object): Promise<void> {
  try {
    await stage.client.send({ verb: 'merge', kind, key, body });
  } catch (error) {
    throw explained(error, kind, key, stage);
  }
}

async function remove(what: NonNullable<Step['delete']>, stage: Stage): Promise<void> {
  const { kind, key } =
    typeof what === 'string'
      ? { kind: installationKind as Kind, key: keyOfRoot(what, stage) }
      : await referenceOf(what, stage);
  try {
    await stage.client.send({ verb: 'delete', kind, key });
  } catch (error) {
    throw explained(error, kind, key, stage);
  }
}

function explained(error: unknown, kind: Kind, key: Key, stage: Stage): unknown {
  if (!(error instanceof NotFound)) return error;
  const name = key.slice(key.indexOf('/') + 1);
  const known = stage.current().installations.map(({ metadata }) => metadata.name);
  const hint = kind.kind === installationKind.kind ? `; ${hintFor(name, known)}` : '';
  return new CommandError(`there is no ${kind.kind} ${key}${hint}`, { cause: error });
}

/** The kind and the key of an object that a test names. @throws NoSuchKind */
export async function referenceOf(
  object: Readonly<Record<string, unknown>>,
  { client, home }: Stage,
): Promise<{ readonly kind: Kind; readonly key: Key }> {
  const { apiVersion, kind: name, metadata } = object as unknown as Obj;
  const kind = await createDiscovery(client).kindOf(apiVersion, name);
  return { kind, key: kind.namespaced ? joinKey(metadata.namespace ?? home, metadata.name) : metadata.name };
}
