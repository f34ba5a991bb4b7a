/** Describes fields that no schema has. The controllers, the lint and the SDK of deployers share the words. */
import type { z } from 'zod';
import { misfits, pathText, type Misfit, type Path } from '../api/decode.ts';
import { closest } from '../lib/closest.ts';

/** Longer keys are cut, and not compared with known ones, because a comparison takes time in proportion to both. */
const MAX_KEY = 60;

/** A sentence about a key that is not read. @param known names of the fields that are read */
export function unknownFieldText(key: string, known: readonly string[]): string {
  const meant = key.length > MAX_KEY ? undefined : closest(key, known);
  const hint = meant === undefined ? `known fields are ${known.join(', ')}` : `did you mean "${meant}"?`;
  const shown = key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key;
  return `unknown field "${shown}"; ${hint}`;
}

interface UnknownField {
  readonly path: Path;
  readonly message: string;
}

/** Only so many are described: a hostile document has as many as fit into it. */
const MAX_DESCRIBED = 100;

/** In the order of the document, at most 100. */
export const unknownFields = (schema: z.ZodType, value: unknown): readonly UnknownField[] =>
  misfits(schema, value)
    .filter((misfit): misfit is Extract<Misfit, { kind: 'unknown' }> => misfit.kind === 'unknown')
    .slice(0, MAX_DESCRIBED)
    .map(({ path, known }) => ({ path, message: unknownFieldText(String(path.at(-1)), known) }));

/** The same for a value without positions, such as the result of a template: each message begins with its path. */
export const unknownFieldsIn = (schema: z.ZodType, value: unknown): readonly string[] =>
  unknownFields(schema, value).map(({ path, message }) => `${placeOf(path.slice(0, -1))}${message}`);

const placeOf = (path: Path): string => (path.length === 0 ? '' : `${pathText(path)}: `);
