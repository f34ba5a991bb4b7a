/** Finds unknown and unused keys in a configuration file. Pure. */
import { z } from 'zod';
import { closest } from '../../lib/closest.ts';
import { configurationSchema } from './schema.ts';

interface KeyNotes {
  /** A message for each unknown key; it is probably a typo. */
  readonly unknown: readonly string[];
  /** A message for each key that upstream uses and Espalier does not. */
  readonly unused: readonly string[];
}

/** The part of a JSON schema that is needed here. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
  readonly unused?: string;
}

export function checkKeys(document: unknown): KeyNotes {
  const notes = { unknown: [] as string[], unused: [] as string[] };
  visit(document, z.toJSONSchema(configurationSchema) as Shape, '', notes);
  return notes;
}

function visit(
  value: unknown,
  shape: Shape,
  path: string,
  notes: { readonly unknown: string[]; readonly unused: string[] },
): void {
  const known = propertiesOf(shape);
  if (!known || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, below] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const child = Object.hasOwn(known, key) ? known[key] : undefined;
    if (!child) notes.unknown.push(`${at} is unknown and has no effect${meant(key, Object.keys(known))}`);
    else if (child.unused !== undefined) notes.unused.push(`${at} has no effect here: ${child.unused}`);
    else visit(below, child, at, notes);
  }
}

const propertiesOf = ({ properties, anyOf }: Shape): Shape['properties'] =>
  properties ?? anyOf?.find((one) => one.properties)?.properties;

function meant(key: string, known: readonly string[]): string {
  const word = closest(key, known);
  return word === undefined ? '' : `; did you mean ${word}?`;
}
