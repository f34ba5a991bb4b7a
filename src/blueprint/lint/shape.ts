/** Compares YAML values with the schemas of src/api: unknown fields, and values of the wrong type. */
import type { z } from 'zod';
import { misfits, typeName, type Misfit, type Path } from '../../api/decode.ts';
import { unknownFieldText } from '../unknown-fields.ts';

interface Problem {
  readonly kind: 'unknown' | 'capitals' | 'type';
  readonly path: Path;
  readonly message: string;
}

export const shapeProblems = (schema: z.ZodType, value: unknown): readonly Problem[] =>
  misfits(schema, value).flatMap((misfit) =>
    misfit.kind === 'unused' ? [] : [{ kind: misfit.kind, path: misfit.path, message: messageOf(misfit) }],
  );

function messageOf(misfit: Exclude<Misfit, { kind: 'unused' }>): string {
  const { path } = misfit;
  const key = String(path.at(-1));
  switch (misfit.kind) {
    case 'type':
      return `${nameOf(path)} must be ${misfit.expected}, but is ${typeName(misfit.found)}`;
    case 'capitals':
      return `"${key}" is read as "${misfit.field}"; write it like that`;
    case 'unknown':
      return unknownFieldText(key, misfit.known);
  }
}

/** The last name on a path, with the position behind it. */
function nameOf(path: Path): string {
  const at = path.findLastIndex((step) => typeof step === 'string');
  const name = at < 0 ? 'the document' : `"${path[at] ?? ''}"`;
  return at < path.length - 1 ? `element ${Number(path.at(-1)) + 1} of ${name}` : name;
}
