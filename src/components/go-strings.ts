/** Which scalars a Go program reads as strings, from the schema of a document: its readers are generated from one type, too. */
import type { z } from 'zod';
import { EACH_STRING, type YamlStrings } from '../lib/yaml-strings.ts';

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
}

export function stringsOf(schema: z.ZodType): YamlStrings | undefined {
  const { type, innerType, in: input, element, valueType, options, shape } = schema.def as Definition;
  if (type === 'string' || type === 'literal') return 'string';
  const inside = innerType ?? input;
  if (inside) return stringsOf(inside);
  if (options) return options.map(stringsOf).find((strings) => strings !== undefined);
  if (shape) {
    const fields = Object.entries(shape).map(([name, field]) => [name, stringsOf(field)] as const);
    return { fields: Object.fromEntries(fields) };
  }
  const each = element ?? valueType;
  const strings = each && stringsOf(each);
  return strings === 'string' ? EACH_STRING : strings && { each: strings };
}
