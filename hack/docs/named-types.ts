/** Finds the types in the declaration of an export, and those among them that cannot be imported. */
import ts from 'typescript';

/** Names of types in a declaration, without its own type parameters. */
export function typesNamedIn(code: string): ReadonlySet<string> {
  const names = new Set<string>();
  const parameters = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeParameterDeclaration(node)) parameters.add(node.name.text);
    else if (ts.isTypeReferenceNode(node)) names.add(firstOf(node.typeName));
    else if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression))
      names.add(node.expression.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('export.ts', code, ts.ScriptTarget.Latest, true));
  return new Set([...names].filter((name) => !parameters.has(name)));
}

const firstOf = (name: ts.EntityName): string => (ts.isIdentifier(name) ? name.text : firstOf(name.left));

export interface Importable {
  /** All exports of the package, under any name. */
  readonly symbols: ReadonlySet<ts.Symbol>;
  /** Whether a file belongs to the package, not to a library. */
  isOurs(file: ts.SourceFile): boolean;
}

/** @param file of the declaration, for resolving names */
export function hiddenTypes(
  code: string,
  file: ts.SourceFile,
  { symbols, isOurs }: Importable,
  checker: ts.TypeChecker,
): string[] {
  const names = new Set([...symbols].map((symbol) => symbol.name));
  const scope = new Map(
    MEANINGS.flatMap((meaning) => checker.getSymbolsInScope(file, meaning)).map((each) => [each.name, each]),
  );
  return [...typesNamedIn(code)].filter((name) => {
    const local = scope.get(name);
    // The compiler inferred the type; the file does not mention it.
    if (!local) return !names.has(name);
    const symbol = originalOf(local, checker);
    return !symbols.has(symbol) && (symbol.declarations ?? []).some((each) => isOurs(each.getSourceFile()));
  });
}

/** The original symbol of an import or alias. */
export const originalOf = (symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol =>
  checker.getExportSymbolOfSymbol(
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  );

const MEANINGS = [ts.SymbolFlags.Type, ts.SymbolFlags.Namespace, ts.SymbolFlags.Alias];
