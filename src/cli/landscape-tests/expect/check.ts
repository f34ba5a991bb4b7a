/** Checks everything that `then` expects. */
import { dataObjectKind } from '../../../api/landscaper-kinds.ts';
import type { DataObject } from '../../../api/kinds/dataobject.ts';
import type { Path } from '../../../api/decode.ts';
import type { YamlText } from '../../../blueprint/lint/yaml-text.ts';
import { hintFor } from '../../../lib/closest.ts';
import { append } from '../../../lib/lists.ts';
import { NoSuchKind } from '../../../runtime/errors.ts';
import { joinKey } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Obj } from '../../../runtime/types.ts';
import type { Then } from '../file/schema.ts';
import type { HistoryEvent } from '../stage/history.ts';
import { nodesByPath } from '../stage/paths.ts';
import type { Stage } from '../stage/stage.ts';
import { referenceOf } from '../stage/steps.ts';
import { exactDifferences, partialDifferences } from './match.ts';
import { checkOrder } from './order.ts';
import { differenceLines, type Difference, type Problem } from './problem.ts';
import { checkSnapshot, rendered } from './snapshot.ts';
import { checkTree } from './tree.ts';

interface CheckContext {
  readonly stage: Stage;
  /** The document below `then`. */
  readonly document: YamlText;
  /** What happened since the last check. */
  readonly events: readonly HistoryEvent[];
  /** The file of the next snapshot of the case. */
  snapshotFile(this: void): string;
  /** Whether snapshots are written instead of compared. */
  readonly update: boolean;
}

export async function checkThen(then: Then, context: CheckContext): Promise<readonly Problem[]> {
  const { stage, events } = context;
  const problems: Problem[] = [];
  const report = (path: Path, title: string, differences: readonly Difference[] = []): void => {
    const { file, line, column } = context.document.at(path, 'key');
    problems.push({ place: { file, line, column }, title, details: differences.flatMap(differenceLines) });
  };
  const nodes = nodesByPath(stage.current(), stage.home);
  for (const { path, title, differences } of checkTree(then.tree ?? {}, nodes))
    report(['tree', path], title, differences);
  for (const [i, expected] of (then.objects ?? []).entries()) {
    const actual = await objectOf(expected, stage);
    if (!actual) report(['objects', i], `${nameOf(expected)} does not exist`);
    else {
      const differences = partialDifferences(withoutPlace(expected), actual);
      if (differences.length > 0)
        report(['objects', i], `${nameOf(expected)} is not as expected`, differences);
    }
  }
  for (const [i, unwanted] of (then.absent ?? []).entries())
    if (await objectOf(unwanted, stage)) report(['absent', i], `${nameOf(unwanted)} exists`);
  for (const [name, value] of Object.entries(then.exports ?? {})) {
    const actual = await getIfThere<DataObject>(stage.client, dataObjectKind, joinKey(stage.home, name));
    if (!actual) report(['exports', name], `there is no data object "${name}"; ${await known(name, stage)}`);
    else {
      const differences = exactDifferences(value, actual.data);
      if (differences.length > 0)
        report(['exports', name], `data object ${name} is not as expected`, differences);
    }
  }
  const wrong = checkOrder(then.order ?? [], events);
  if (wrong) report(['order', wrong.index], wrong.message);
  if (then.snapshot) {
    const differs = checkSnapshot(context.snapshotFile(), rendered(nodes), context.update);
    if (differs) report(['snapshot'], differs.title, differs.differences);
  }
  return problems;
}

/** Undefined if it does not exist, or if its kind does not. */
async function objectOf(expected: Readonly<Record<string, unknown>>, stage: Stage): Promise<Obj | undefined> {
  try {
    const { kind, key } = await referenceOf(expected, stage);
    return await getIfThere(stage.client, kind, key);
  } catch (error) {
    if (error instanceof NoSuchKind) return undefined;
    throw error;
  }
}

const nameOf = (object: Readonly<Record<string, unknown>>): string => {
  const { kind, metadata } = object as unknown as Obj;
  return `${kind} ${joinKey(metadata.namespace, metadata.name)}`;
};

/** The namespace may be that of the test. */
function withoutPlace({ metadata, ...fields }: Readonly<Record<string, unknown>>): object {
  const { namespace: _namespace, ...more } = metadata as Obj['metadata'];
  return { ...fields, metadata: more };
}

async function known(name: string, { client, home }: Stage): Promise<string> {
  const names: string[] = [];
  for await (const page of client.list(dataObjectKind, { namespace: home }))
    append(
      names,
      page.items.map(({ metadata }) => metadata.name),
    );
  return hintFor(name, names, names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`);
}
