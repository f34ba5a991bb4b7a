/** The possible meanings of an expression's path. */

type Path = hbs.AST.PathExpression;

/** `this.x`, `./x` and `../x` never refer to a function or a block parameter. */
export const isScoped = (original: string): boolean => /^(?:this\b|\.)/.test(original);

/** The name of a function if the path can refer to one. */
export function simpleName(path: hbs.AST.Expression): string | undefined {
  if (path.type !== 'PathExpression') return undefined;
  const { data, depth, parts, original } = path as Path;
  return data || depth > 0 || parts.length !== 1 || isScoped(original) ? undefined : parts[0];
}

/** `{{"a b"}}` and `{{1}}` refer to the fields with these names. */
export function asPath(path: hbs.AST.Expression): Path {
  if (path.type === 'PathExpression') return path as Path;
  const original = String((path as hbs.AST.Literal & { readonly original: unknown }).original);
  return { ...path, data: false, depth: 0, parts: [original], original } as unknown as Path;
}
