import { expect } from 'chai';
import ts from 'typescript';
import { hiddenTypes, originalOf, typesNamedIn } from '../../../hack/docs/named-types.ts';

describe('the types that an export names', () => {
  it('are distinguished from its own type parameters and from values', () => {
    const code =
      'function f<T extends Base>(a: T, b: Map<string, Own>, c: typeof value): ns.Deep; interface A<X> extends Up<X> { y: X }';
    expect([...typesNamedIn(code)].sort()).to.deep.equal(['Base', 'Map', 'Own', 'Up', 'ns']);
  });

  it('are hidden if they are ours and not exported', () => {
    const files: Readonly<Record<string, string>> = {
      '/index.ts': `export { a, type Shown, type Inner as Renamed } from './a';`,
      '/a.ts': `export interface Shown { x: string }
        interface Hidden { x: string }
        export interface Inner { x: string }
        export const a = (h: Hidden, s: Shown, i: Inner, m: Map<string, AbortSignal>): void => {};`,
    };
    const host = ts.createCompilerHost({});
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, version) =>
      files[name] === undefined ? read(name, version) : ts.createSourceFile(name, files[name], version);
    host.fileExists = (name) => name in files || ts.sys.fileExists(name);
    host.readFile = (name) => files[name] ?? ts.sys.readFile(name);
    const program = ts.createProgram(['/index.ts'], { target: ts.ScriptTarget.ES2022 }, host);
    const checker = program.getTypeChecker();
    const [index, file] = ['/index.ts', '/a.ts'].map((name) => program.getSourceFile(name) as ts.SourceFile);
    const module = checker.getSymbolAtLocation(index as ts.SourceFile) as ts.Symbol;
    const symbols = new Set(checker.getExportsOfModule(module).map((each) => originalOf(each, checker)));
    const isOurs = ({ fileName }: ts.SourceFile): boolean => fileName in files;
    const code = 'function a(h: Hidden, s: Shown, i: Inner, m: Map<string, AbortSignal>): void;';
    const hidden = hiddenTypes(code, file as ts.SourceFile, { symbols, isOurs }, checker);
    expect(hidden).to.deep.equal(['Hidden']);
  });
});
