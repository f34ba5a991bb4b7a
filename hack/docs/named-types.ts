/** Which types the declaration of an export names, and which of them nobody can import. */
import ts from 'typescript';

/** Names of types in a declaration, but for its own type parameters. */
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
  /** All that the package exports, whatever it is called there. */
  readonly symbols: ReadonlySet<ts.Symbol>;
  /** Whether a file is one of the package, not one of a library. */
  isOurs(file: ts.SourceFile): boolean;
}

/** @param file where the declaration stands, so that names mean what they mean there */
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
    // The compiler has inferred it; it is not mentioned in the file.
    if (!local) return !names.has(name);
    const symbol = originalOf(local, checker);
    return !symbols.has(symbol) && (symbol.declarations ?? []).some((each) => isOurs(each.getSourceFile()));
  });
}

/** What a name stands for in the end, wherever and under whichever name it was imported. */
export const originalOf = (symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol =>
  checker.getExportSymbolOfSymbol(
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  );

const MEANINGS = [ts.SymbolFlags.Type, ts.SymbolFlags.Namespace, ts.SymbolFlags.Alias];
