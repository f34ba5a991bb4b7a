/** Functions for image references, which Landscaper adds for executions. */
import { parseOciReference } from '../oci-reference.ts';
import { Unresolvable, type SpiffFunctionTable } from './function.ts';
import type { SpiffValue } from './value.ts';

function parts(args: readonly SpiffValue[]): readonly [string, string] {
  const [text] = args;
  if (args.length > 1)
    throw new Unresolvable('Too many arguments for parseOCIReference. Expected 1 reference.');
  if (typeof text !== 'string') throw new Unresolvable('Invalid argument: string expected');
  const found = parseOciReference(text);
  if (found) return found;
  throw new Unresolvable('invalid reference');
}

export const ociFunctions: SpiffFunctionTable = {
  parseOCIRef: (args) => [...parts(args)],
  ociRefRepo: (args) => parts(args)[0],
  ociRefVersion: (args) => parts(args)[1],
};
