/** The input file of `deployitems run`: deploy items and the objects that they need. */
import { deployItemKind, type DeployItem } from '../../../api/kinds/deployitem.ts';
import { contextKind } from '../../../api/kinds/context.ts';
import { targetKind } from '../../../api/kinds/target.ts';
import { annotations, API_VERSION, labels } from '../../../api/labels.ts';
import { refusalForJob } from '../../../api/validation/index.ts';
import { hintFor } from '../../../lib/closest.ts';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { configMapKind, secretKind } from '../../../landscape/world.ts';
import { DefinitionError } from '../../../runtime/errors.ts';
import type { Kind, Obj } from '../../../runtime/types.ts';
import { buildDag } from '../../../workflow/dag.ts';
import { UsageError } from '../../errors.ts';

export interface WantedItem {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Names of the items in the file that must succeed first. */
  readonly dependsOn: readonly string[];
  readonly spec: DeployItem['spec'];
  /** Status of an item that was exported from a cluster. */
  readonly providerStatus: Fields | undefined;
}

export interface RunInput {
  readonly items: readonly WantedItem[];
  readonly others: readonly { readonly kind: Kind; readonly object: Obj }[];
}

const DEFAULT_NAMESPACE = 'default';

/** Name of the Context of an item. */
export const contextOf = ({ spec }: Pick<WantedItem, 'spec'>): string => spec.context ?? 'default';

const additionalKinds = [
  secretKind,
  configMapKind,
  contextKind,
  targetKind,
] as readonly unknown[] as readonly Kind[];

/** @throws UsageError with the document, the error in it, and the expected form */
export function readInput(documents: readonly unknown[], file: string): RunInput {
  const objects = documents.filter((one) => one !== null && one !== undefined).flatMap(membersOf);
  const found: { item: WantedItem; alias: string | undefined }[] = [];
  const others: { kind: Kind; object: Obj }[] = [];
  for (const [i, object] of objects.entries()) {
    const place = `${file}, object ${String(i + 1)}`;
    if (!isObject(object)) throw new UsageError(`${place}: expected an object with apiVersion and kind`);
    if (object['kind'] === deployItemKind.kind) found.push(itemFrom(object, place));
    else others.push(otherFrom(object, place));
  }
  if (found.length === 0) throw new UsageError(`${file} has no ${deployItemKind.kind} in it`);
  const aliases = new Map(found.flatMap(({ item, alias }) => (alias ? [[alias, item.name] as const] : [])));
  const names = new Set(found.map(({ item }) => item.name));
  const items = found.map(({ item }) => ({
    ...item,
    dependsOn: item.dependsOn.map((name) => (names.has(name) ? name : (aliases.get(name) ?? name))),
  }));
  checkOrder(items, file);
  return { items, others };
}

const membersOf = (document: unknown): readonly unknown[] => {
  const items = ownField(document, 'items');
  return Array.isArray(items) ? (items as readonly unknown[]) : [document];
};

/** @throws UsageError for a cycle or an unknown dependency */
function checkOrder(items: readonly WantedItem[], file: string): void {
  try {
    buildDag(items);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new UsageError(`${file}: ${error.message}`);
  }
}

function itemFrom(object: Fields, place: string) {
  if (object['apiVersion'] !== API_VERSION)
    throw new UsageError(
      `${place}: the apiVersion of a DeployItem is ${API_VERSION}, not ${String(object['apiVersion'])}`,
    );
  const name = ownField(object['metadata'], 'name');
  if (typeof name !== 'string' || name === '')
    throw new UsageError(`${place}: the DeployItem has no metadata.name`);
  const spec = object['spec'];
  const refusal = isObject(spec) ? refusalForJob('deployitems', object) : 'it has no spec';
  if (refusal !== undefined || !isObject(spec))
    throw new UsageError(`${place}, DeployItem ${name}: ${refusal ?? ''}`);
  const own = textsOf(ownField(object['metadata'], 'labels'));
  const notes = textsOf(ownField(object['metadata'], 'annotations'));
  const { dependsOn, ...rest } = spec;
  const namespace = ownField(object['metadata'], 'namespace');
  const { [annotations.operation]: _operation, ...kept } = notes;
  const providerStatus = ownField(object['status'], 'providerStatus');
  const item: WantedItem = {
    name,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : DEFAULT_NAMESPACE,
    labels: own,
    annotations: kept,
    dependsOn: dependenciesOf(dependsOn, notes, place),
    spec: rest as unknown as DeployItem['spec'],
    providerStatus: isObject(providerStatus) ? providerStatus : undefined,
  };
  return { item, alias: own[labels.executionName] };
}

/** The dependencies in the spec, or in the annotation that an execution writes. */
function dependenciesOf(
  value: unknown,
  notes: Readonly<Record<string, string>>,
  place: string,
): readonly string[] {
  if (value === undefined)
    return (notes[annotations.dependsOn] ?? '').split(',').filter((name) => name !== '');
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new UsageError(`${place}: spec.dependsOn is a list of names of other items in the file`);
}

function otherFrom(object: Fields, place: string): { kind: Kind; object: Obj } {
  const kind = additionalKinds.find((k) => k.kind === object['kind']);
  if (!kind) {
    const known = [deployItemKind.kind, ...additionalKinds.map((k) => k.kind)];
    const given = String(object['kind']);
    throw new UsageError(`${place}: cannot use an object of kind ${given}; ${hintFor(given, known)}`);
  }
  const {
    name,
    namespace,
    labels: own,
    annotations: notes,
  } = isObject(object['metadata']) ? object['metadata'] : {};
  if (typeof name !== 'string' || name === '')
    throw new UsageError(`${place}: the ${kind.kind} has no metadata.name`);
  const { status: _status, ...rest } = object;
  const metadata = {
    name,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : DEFAULT_NAMESPACE,
    ...(isObject(own) && { labels: textsOf(own) }),
    ...(isObject(notes) && { annotations: textsOf(notes) }),
  };
  return { kind, object: { ...rest, metadata } as unknown as Obj };
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};
