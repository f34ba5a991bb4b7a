/** The parts of changed objects that are shown: the content of Secrets is masked in each of them. Pure. */
import type { PlannedObject } from '../../../../deployers/sdk/index.ts';
import { isObject, type Fields } from '../../../lib/objects.ts';
import { MASK } from '../blueprints/rendering/mask.ts';
import { diffOf, type FieldChange } from './diff.ts';

export interface ShownChange extends FieldChange {
  /** Whether the content is secret: the output only shows that it changes. */
  readonly isSecret: boolean;
}

export const changesOf = ({ ref, before, after }: PlannedObject): readonly ShownChange[] =>
  diffOf(before, after).map((one) => ({ ...one, isSecret: ref.kind === 'Secret' && isContent(one.path) }));

/** An annotation of kubectl contains the whole object. */
const isContent = (path: string): boolean =>
  /^(data|stringData)\b/.test(path) || path.includes('last-applied-configuration');

/** The object with masked values, if it is a Secret. */
export function withoutSecrets(object: Fields): Fields {
  if (object['kind'] !== 'Secret') return object;
  const masked = Object.fromEntries(
    ['data', 'stringData']
      .filter((field) => isObject(object[field]))
      .map((field) => [
        field,
        Object.fromEntries(Object.keys(object[field] as Fields).map((key) => [key, MASK])),
      ]),
  );
  return { ...object, ...masked };
}
