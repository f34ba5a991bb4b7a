/** The deploy items that the templates of a blueprint create and that are known without values. */
import { anyCaseField, isObject, ownField } from '../../lib/objects.ts';
import type { Subject } from './subject.ts';
import { resultOf, type TemplateResult } from './template-result.ts';
import type { YamlText } from './yaml-text.ts';

export interface Item {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly document: YamlText;
  /** False if fields may be missing, or belong to different branches of a condition. */
  readonly isWhole: boolean;
}

interface FoundItems {
  readonly items: readonly Item[];
  /** Whether these are all items of the blueprint, with all fields. */
  readonly isComplete: boolean;
}

export function itemsOf(subject: Subject): FoundItems {
  const deploys = subject.templates.filter(({ kind }) => kind === 'deploy');
  const results = deploys.map((template) => resultOf(template, subject));
  const lists = results.map((result) => result && listOf(result));
  return {
    items: lists.flatMap((list) => list ?? []),
    isComplete: lists.every((list) => list !== undefined) && results.every((one) => one?.isWhole === true),
  };
}

/** undefined if there is no list */
function listOf({ value, document, isWhole }: TemplateResult): readonly Item[] | undefined {
  const list = anyCaseField(value, 'deployItems');
  if (!Array.isArray(list)) return list === undefined || list === null ? [] : undefined;
  return list.flatMap((item, i): readonly Item[] =>
    isObject(item)
      ? [{ name: textOf(item, 'name'), value: item, document: document.below(['deployItems', i]), isWhole }]
      : [],
  );
}

/** A scalar field as text; empty if there is none. */
export const textOf = (value: unknown, key: string): string => {
  const found = ownField(value, key);
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
    ? String(found)
    : '';
};
