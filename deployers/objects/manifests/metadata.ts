/**
 * Whether every server refuses the metadata of an object: it is refused before other objects are created. A chart or template
 * that writes `v: 1.10` as a label means a string and has a number, and `1.0.0+build` is not a label.
 */
import { isObject, ownField } from '../../../src/lib/objects.ts';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
} from '../../../src/lib/names.ts';
import { groupOf } from './model.ts';

const TEXTS = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion'];
const MAPS = ['labels', 'annotations'];
const LISTS = ['finalizers'];

/** What is wrong with the metadata, and the way out; undefined if nothing is. */
export function metadataProblem(object: unknown): string | undefined {
  const metadata = ownField(object, 'metadata') ?? null;
  if (metadata === null) return undefined;
  const problem = isObject(metadata)
    ? (problemIn(metadata) ?? syntaxProblem(object, metadata))
    : mustBe('metadata', 'a map', metadata);
  if (problem === undefined) return undefined;
  const shown = (value: unknown): string => (typeof value === 'string' ? value : '');
  const name = shown(ownField(metadata, 'name'));
  return `${shown(ownField(object, 'kind'))}${name === '' ? '' : ` "${name}"`}: ${problem}`;
}

function problemIn(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const problems = [
    ...TEXTS.map((field) => textProblem(`metadata.${field}`, ownField(metadata, field))),
    ...MAPS.flatMap((field) => {
      const map = ownField(metadata, field) ?? {};
      if (!isObject(map)) return mustBe(`metadata.${field}`, 'a map', map);
      return Object.entries(map).map(([key, value]) => textProblem(`metadata.${field}.${key}`, value));
    }),
    ...LISTS.flatMap((field) => {
      const list = ownField(metadata, field) ?? [];
      if (!Array.isArray(list)) return mustBe(`metadata.${field}`, 'a list', list);
      return list.map((value: unknown, i) => textProblem(`metadata.${field}[${String(i)}]`, value));
    }),
  ];
  return problems.find((problem) => problem !== undefined);
}

/** What the syntax of names, labels and annotations does not allow; all values are strings. */
function syntaxProblem(object: unknown, metadata: Readonly<Record<string, unknown>>): string | undefined {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const entries = (field: string): readonly (readonly [string, unknown])[] =>
    Object.entries(ownField(metadata, field) ?? {});
  const name = text(ownField(metadata, 'name'));
  const namespace = text(ownField(metadata, 'namespace'));
  const labels = entries('labels');
  const found: readonly (readonly [path: string, problems: readonly string[]])[] = [
    ['metadata.name', name === '' ? [] : nameRule(object)(name)],
    ['metadata.namespace', namespace === '' ? [] : isDns1123Label(namespace)],
    ...labels.map(([key]) => ['the key of metadata.labels', quoted(key, isQualifiedName(key))] as const),
    ...labels.map(
      ([key, value]) => [`metadata.labels.${key}`, quoted(text(value), isLabelValue(text(value)))] as const,
    ),
    ...entries('annotations').map(
      ([key]) =>
        ['the key of metadata.annotations', quoted(key, isQualifiedName(key.toLowerCase()))] as const,
    ),
  ];
  const first = found.find(([, problems]) => problems.length > 0);
  return first && `${first[0]} is invalid: ${first[1][0] ?? ''}`;
}

const MAX_SHOWN = 80;

const quoted = (value: string, problems: readonly string[]): readonly string[] => {
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  return problems.map((problem) => `"${shown}": ${problem}`);
};

const LABEL_NAMES: ReadonlySet<string> = new Set(['/Service', '/Namespace']);
/** Kinds of Kubernetes whose names do not have to be those of domains. */
const ANY_NAMES: ReadonlySet<string> = new Set(['rbac.authorization.k8s.io', 'apiregistration.k8s.io']);

/** An aggregated server may accept any name that can be a part of a path. */
function nameRule(object: unknown): (name: string) => readonly string[] {
  const apiVersion = ownField(object, 'apiVersion');
  const kind = ownField(object, 'kind');
  if (typeof apiVersion !== 'string') return isPathSegment;
  const group = groupOf(apiVersion);
  if (LABEL_NAMES.has(`${group}/${String(kind)}`)) return isDns1123Label;
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  return isBuiltIn && !ANY_NAMES.has(group) && kind !== 'IPAddress' ? isDns1123Subdomain : isPathSegment;
}

function textProblem(path: string, value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return undefined;
  const isScalar = typeof value !== 'object';
  return `${mustBe(path, 'a string', value)}${isScalar ? '; put it in quotes' : ''}`;
}

const mustBe = (path: string, what: string, value: unknown): string =>
  `${path} must be ${what}, but is ${typeName(value)}`;

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  const type = typeof value === 'bigint' ? 'number' : typeof value;
  return type === 'object' ? 'a map' : `a ${type}`;
}
