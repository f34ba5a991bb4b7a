/** Common functions for merging into maps and lists. */
import type { Expr, MarkerExpr } from '../syntax/ast.ts';
import { print } from '../syntax/print.ts';
import type { Binding } from '../tree/binding.ts';
import { FLAG, withFlags, type Node } from '../tree/node.ts';
import { flagsOf, TEMPLATE } from '../eval/documents.ts';

/** The stub's value at this place, and which of its markers apply here. */
export function inheritedFlags(binding: Binding): {
  readonly flags: number;
  readonly node: Node | undefined;
} {
  const found = binding.findInStubs(binding.stubPath);
  return { flags: (found?.flags ?? 0) & (FLAG.temporary | FLAG.state), node: found };
}

/** `<<<: (( merge ))` may find nothing. The first pass only parses it. */
export const isOptionalMerge = (isInitial: boolean, expr: Expr): boolean =>
  !isInitial && expr.kind === 'merge' && !expr.isRequired;

/** The body of a template marker, as text until the template is used. */
export function templateBody({ markers, body }: MarkerExpr, original: Node): Node | undefined {
  if (!body) return undefined;
  const others = markers.filter((marker) => marker !== TEMPLATE);
  return withFlags(
    { ...original, value: `(( ${print(body)} ))` },
    flagsOf({ kind: 'marker', markers: others, body }),
  );
}
