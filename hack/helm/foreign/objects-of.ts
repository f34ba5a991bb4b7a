/** Objects for a schema of a CustomResourceDefinition. */
import { isObject, ownField } from '../../../src/lib/objects.ts';

/** Which fields an object has: the required ones; all; or all, of which the first scalar one has another type. */
export const shapes = ['required', 'full', 'wrong'] as const;
export type Shape = (typeof shapes)[number];

const MAX_DEPTH = 12;
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  duration: '1m0s',
  byte: 'YQ==',
  uri: 'https://example.org/',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  email: 'a@example.org',
  hostname: 'example.org',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

/**
 * The value of a schema of version v1, without `metadata`. Patterns and rules are not followed, so that a server may
 * refuse it.
 */
export function objectOf(schema: unknown, shape: Shape): Record<string, unknown> {
  const state = { isWrong: shape !== 'wrong' };
  const value = valueOf(schema, shape, state, 0);
  return isObject(value) ? { ...value } : {};
}

interface State {
  /** Whether the wrong value is already there. */
  isWrong: boolean;
}

function valueOf(schema: unknown, shape: Shape, state: State, depth: number): unknown {
  const of = (name: string): unknown => ownField(schema, name);
  if (of('x-kubernetes-int-or-string') === true) return 1;
  switch (of('type')) {
    case 'object':
      return fieldsOf(schema, shape, state, depth);
    case 'array':
      return depth < MAX_DEPTH ? [valueOf(of('items'), shape, state, depth + 1)] : [];
    default:
      return scalarOf(schema, state);
  }
}

function fieldsOf(schema: unknown, shape: Shape, state: State, depth: number): Record<string, unknown> {
  const properties = Object.entries(ownField(schema, 'properties') ?? {});
  const required = new Set((ownField(schema, 'required') as string[] | undefined) ?? []);
  const isWanted = (name: string): boolean =>
    required.has(name) || (shape !== 'required' && depth < MAX_DEPTH && !isServerField(name, depth));
  const found: Record<string, unknown> = {};
  for (const [name, field] of properties)
    if (isWanted(name)) found[name] = valueOf(field, shape, state, depth + 1);
  const more = ownField(schema, 'additionalProperties');
  if (isObject(more) && shape !== 'required' && depth < MAX_DEPTH)
    found['key'] = valueOf(more, shape, state, depth + 1);
  return found;
}

const isServerField = (name: string, depth: number): boolean =>
  depth === 0 && ['apiVersion', 'kind', 'metadata'].includes(name);

function scalarOf(schema: unknown, state: State): unknown {
  const of = (name: string): unknown => ownField(schema, name);
  const numberOf = (name: string): number | undefined =>
    typeof of(name) === 'number' ? (of(name) as number) : undefined;
  const options = of('enum');
  if (!state.isWrong) {
    state.isWrong = true;
    return of('type') === 'string' ? 1 : 'wrong';
  }
  if (Array.isArray(options)) return options[0];
  switch (of('type')) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, numberOf('minimum') ?? 1), numberOf('maximum') ?? Infinity);
    case 'string':
      return (BY_FORMAT[String(of('format'))] ?? 'a').padEnd(numberOf('minLength') ?? 0, 'a');
    default:
      return {};
  }
}
