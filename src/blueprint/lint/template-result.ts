/**
 * Predicts the result of a template without values. Expressions become placeholders of the same length, so positions stay
 * the same:
 *
 *     type: landscaper.gardener.cloud/helm
 *     config:
 *       name: {{ .imports.name }}        an open value
 *       {{- if .imports.values }}        this line is dropped, and the result is not whole
 *       values: {}
 *       {{- end }}
 */
import { define } from '../../lib/json.ts';
import { isObject, type Fields } from '../../lib/objects.ts';
import { YamlError } from '../../lib/yaml.ts';
import { hasControl, parsedGoTemplate } from './gouses.ts';
import { Source } from './source.ts';
import type { FoundTemplate, Subject } from './subject.ts';
import { readYaml, type YamlText } from './yaml-text.ts';

export interface TemplateResult {
  readonly value: unknown;
  readonly document: YamlText;
  /** False if the result may have more or fewer parts, because they depend on conditions, loops or expressions. */
  readonly isWhole: boolean;
}

/** Placeholder for the output of an expression: a private-use character, which YAML treats as a letter. */
const MARK = '\ue000';
export const isOpen = (text: string): boolean => text.includes(MARK);

/** For messages. */
export const shown = (text: string): string => text.replaceAll(new RegExp(`${MARK}+`, 'g'), '…');

/** Whether a value contains an expression, in a key or in a value. */
export const hasOpenPart = (value: unknown): boolean => isOpen(JSON.stringify(value ?? null));

/** undefined if the result cannot be predicted */
export function resultOf(template: FoundTemplate, { document }: Subject): TemplateResult | undefined {
  const { executor, source, path } = template;
  if (!source) return undefined;
  switch (executor.type) {
    case 'GoTemplate': {
      const parsed = parsedGoTemplate(executor, source);
      if (!parsed || parsed.definitions.size > 1) return undefined;
      return resultOfText(source, hasControl(parsed));
    }
    case 'Handlebars':
      return resultOfText(source, /\{\{\{?~?\s*(?:[#^/>*]|else\b)/.test(source.text));
    case 'Spiff': {
      const isTree = typeof executor.template === 'object';
      const read = isTree
        ? { value: executor.template as unknown, document: document.below([...path, 'template']) }
        : readOrNothing(source);
      return read && { ...read, value: withoutDynaml(read.value), isWhole: !hasMerge(read.value) };
    }
    default:
      return undefined;
  }
}

// ---------------------------------------------------------------- braces

const ACTION = /\{\{[\s\S]*?\}\}+/g;
const ONLY_ACTIONS = /^[ \t]*(?:\{\{[^\n]*?\}\}+[ \t]*)+$/gm;

function resultOfText(source: Source, isControlled: boolean): TemplateResult | undefined {
  if (!isControlled) {
    const read = readOrNothing(marked(source, source.text));
    const isOnOneLine = [...source.text.matchAll(ACTION)].every(([action]) => !action.includes('\n'));
    if (read) return { ...read, isWhole: isOnOneLine };
  }
  const read = readOrNothing(marked(source, source.text.replace(ONLY_ACTIONS, blank)));
  return read && { ...read, isWhole: false };
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** A line break within an action would end its placeholder. */
function marked(source: Source, text: string): Source {
  const isSilent = (action: string): boolean => /^\{\{-?\s*(?:\/\*|\$\w+\s*:?=|!)/.test(action);
  const result = text.replace(ACTION, (action) =>
    isSilent(action) || action.includes('\n') ? blank(action) : MARK.repeat(action.length),
  );
  return new Source(source.file, result, {
    outer: source,
    offset: (line, column) => source.lineStart(line) + column,
  });
}

function readOrNothing(source: Source): ReturnType<typeof readYaml> | undefined {
  try {
    return readYaml(source);
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

// ---------------------------------------------------------------- Spiff

const isDynaml = (text: string): boolean => /\(\([\s\S]*\)\)/.test(text) || text === '<<' || text === '<<<';

/** Whether the top level of a Spiff document merges others. */
const hasMerge = (value: unknown): boolean => isObject(value) && Object.keys(value).some(isDynaml);

function withoutDynaml(value: unknown): unknown {
  if (typeof value === 'string') return isDynaml(value) ? MARK : value;
  if (Array.isArray(value)) return value.map(withoutDynaml);
  if (!isObject(value)) return value;
  const result: Fields = {};
  for (const [key, item] of Object.entries(value))
    define(result, isDynaml(key) ? MARK : key, withoutDynaml(item));
  return result;
}
