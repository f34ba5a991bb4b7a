/** The public view of an export: its declaration without bodies and private members, and its docstring. */
import ts from 'typescript';

export interface Told {
  /** The docstring as Markdown; empty if there is none. */
  readonly text: string;
  readonly params: readonly { readonly name: string; readonly text: string }[];
  readonly returns: string | undefined;
  readonly throws: readonly string[];
  readonly see: readonly string[];
}

export function toldOf(symbol: ts.Symbol, checker: ts.TypeChecker): Told {
  const tags = symbol.getJsDocTags(checker);
  const textOf = ({ text }: ts.JSDocTagInfo): string => onOneLine(ts.displayPartsToString(text));
  const named = (name: string): string[] => tags.filter((tag) => tag.name === name).map(textOf);
  return {
    text: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
    params: named('param').map((text) => {
      const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? [];
      return { name, text: rest };
    }),
    returns: named('returns')[0],
    throws: named('throws'),
    see: named('see'),
  };
}

const onOneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim();

/**
 * The TypeScript declaration of a symbol; for a value and a type of the same name, both.
 * @param isTypeOnly whether it is exported as a type, so that its constructor is not public
 */
export function declarationOf(symbol: ts.Symbol, checker: ts.TypeChecker, isTypeOnly = false): string {
  const seen = new Set<ts.Node>();
  const texts = (symbol.declarations ?? []).map((declaration) => {
    if (seen.has(declaration)) return '';
    seen.add(declaration);
    return isTypeOnly && ts.isClassDeclaration(declaration)
      ? classText(declaration, checker, isTypeOnly)
      : textOf(declaration, symbol, checker);
  });
  return texts.filter(Boolean).join('\n');
}

function textOf(node: ts.Declaration, symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const { name } = symbol;
  if (ts.isFunctionDeclaration(node)) return `function ${name}${callOf(node, checker, ':')};`;
  if (ts.isTypeAliasDeclaration(node) && names(node, ts.SyntaxKind.TypeQuery))
    return `type ${name} = ${spelledOut(symbol, checker)};`;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return plain(node);
  if (ts.isClassDeclaration(node)) return classText(node, checker);
  if (ts.isVariableDeclaration(node)) {
    const { initializer, type } = node;
    if (!type && initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)))
      return `function ${name}${callOf(initializer, checker, ':')};`;
    return `const ${name}: ${type ? type.getText() : printed(checker.getTypeOfSymbol(symbol), checker)};`;
  }
  throw new Error(`hack/docs/declarations.ts cannot show ${ts.SyntaxKind[node.kind]} ${name}`);
}

/** The source text, with the docstrings of its members. */
const plain = (node: ts.Node): string => node.getText().replace(/^export /, '');

/** Whether the node contains a node of this kind. */
const names = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  node.kind === kind || (ts.forEachChild(node, (child) => names(child, kind)) ?? false);

/** The expanded form of a type that is derived from a value, because the value is not exported. */
const spelledOut = (symbol: ts.Symbol, checker: ts.TypeChecker): string =>
  checker.typeToString(
    checker.getDeclaredTypeOfSymbol(symbol),
    undefined,
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias,
  );

const printed = (type: ts.Type, checker: ts.TypeChecker): string =>
  checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);

/** `<T>(a: A, b?: B): C` */
function callOf(node: ts.SignatureDeclaration, checker: ts.TypeChecker, before: ':' | '=>'): string {
  const generics = node.typeParameters
    ? `<${node.typeParameters.map((each) => each.getText()).join(', ')}>`
    : '';
  const params = node.parameters.map((param) => paramText(param, checker)).join(', ');
  return `${generics}(${params})${before} ${resultOf(node, checker)}`;
}

function resultOf(node: ts.SignatureDeclaration, checker: ts.TypeChecker): string {
  if (node.type) return node.type.getText();
  const signature = checker.getSignatureFromDeclaration(node);
  return signature ? printed(signature.getReturnType(), checker) : 'void';
}

/** A parameter with a default is optional. */
function paramText(param: ts.ParameterDeclaration, checker: ts.TypeChecker): string {
  const isOptional = param.questionToken !== undefined || param.initializer !== undefined;
  const type = param.type ? param.type.getText() : printed(checker.getTypeAtLocation(param), checker);
  const rest = param.dotDotDotToken ? '...' : '';
  return `${rest}${bindingText(param.name)}${isOptional ? '?' : ''}: ${type}`;
}

/** Names without their defaults. */
function bindingText(name: ts.BindingName): string {
  if (ts.isIdentifier(name)) return name.text;
  const parts = name.elements.map((element) => {
    if (ts.isOmittedExpression(element)) return '';
    const own = bindingText(element.name);
    const of = element.propertyName ? `${element.propertyName.getText()}: ${own}` : own;
    return element.dotDotDotToken ? `...${of}` : of;
  });
  return ts.isObjectBindingPattern(name) ? `{ ${parts.join(', ')} }` : `[${parts.join(', ')}]`;
}

function classText(node: ts.ClassDeclaration, checker: ts.TypeChecker, isTypeOnly = false): string {
  const members = node.members.filter((each) => !(isTypeOnly && ts.isConstructorDeclaration(each)));
  const head = [
    node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) ? 'abstract class' : 'class',
    `${node.name?.text ?? ''}${node.typeParameters ? `<${node.typeParameters.map((each) => each.getText()).join(', ')}>` : ''}`,
    ...(node.heritageClauses ?? []).map((clause) => clause.getText()),
  ];
  const lines = members.filter(isPublic).map((member) => `${docText(member)}${memberText(member, checker)}`);
  return `${head.join(' ')} {\n${lines.join('\n')}\n}`;
}

const isPublic = (member: ts.ClassElement): boolean =>
  !(member.name && ts.isPrivateIdentifier(member.name)) &&
  !(ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) &&
  !ts.isClassStaticBlockDeclaration(member);

function docText(member: ts.ClassElement): string {
  const [doc] = ts.getJSDocCommentsAndTags(member);
  return doc ? `${doc.getText()}\n` : '';
}

function memberText(member: ts.ClassElement, checker: ts.TypeChecker): string {
  const modifiers = ts.canHaveModifiers(member)
    ? (ts.getModifiers(member) ?? [])
        .map((each) => each.getText())
        .filter((word) => !['async', 'override', 'declare', 'public'].includes(word))
    : [];
  const start = modifiers.length > 0 ? `${modifiers.join(' ')} ` : '';
  const name = member.name?.getText() ?? '';
  if (ts.isConstructorDeclaration(member)) {
    const params = member.parameters.map((param) => paramText(param, checker));
    return `constructor(${params.join(', ')});`;
  }
  if (ts.isMethodDeclaration(member)) return `${start}${name}${callOf(member, checker, ':')};`;
  if (ts.isGetAccessorDeclaration(member)) return `readonly ${name}: ${resultOf(member, checker)};`;
  if (ts.isPropertyDeclaration(member)) {
    const type = member.type ? member.type.getText() : printed(checker.getTypeAtLocation(member), checker);
    return `${start}${name}${member.questionToken ? '?' : ''}: ${type};`;
  }
  return member.getText();
}
