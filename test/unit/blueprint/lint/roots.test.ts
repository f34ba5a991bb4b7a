import { expect } from 'chai';
import { inspectRoots } from '../../../../src/blueprint/lint/roots.ts';
import { Source } from '../../../../src/blueprint/lint/source.ts';
import { readYamlAll } from '../../../../src/blueprint/lint/yaml-text.ts';
import { lineOf } from './sound.ts';

const root = (name: string, imports: string, exports: string, namespace = 'shop'): string => `---
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  blueprint: { ref: { resourceName: bp } }
  componentDescriptor: { ref: { componentName: example.org/c, version: 1.0.0 } }
  imports: { data: [${imports}] }
  exports: { data: [${exports}] }
`;
const ref = (name: string): string => `{ name: ${name}, dataRef: ${name} }`;

const inspect = (...roots: readonly string[]): readonly string[] =>
  inspectRoots(readYamlAll(new Source('shop.yaml', roots.join('')))).map(lineOf);

describe('inspecting the installations of one file', () => {
  it('finds nothing if they depend on each other in one direction', () => {
    expect(inspect(root('db', '', ref('url')), root('web', ref('url'), ''))).to.deep.equal([]);
  });

  it('finds those that wait for each other', () => {
    expect(inspect(root('db', ref('page'), ref('url')), root('web', ref('url'), ref('page')))).to.deep.equal([
      'shop.yaml:8:3: error: these installations wait for each other: db -{depends_on}-> web -{depends_on}-> db [root-cycle]',
    ]);
  });

  it('does not compare those of different namespaces, other kinds, and invalid ones', () => {
    const web = root('web', ref('url'), ref('page'));
    expect(inspect(root('db', ref('page'), ref('url'), 'other'), web)).to.deep.equal([]);
    expect(inspect(root('db', `${ref('page')}, ${ref('page')}`, ref('url')), web)).to.deep.equal([]);
    expect(inspect('kind: ConfigMap\n', web)).to.deep.equal([]);
  });

  it('finds two that export the same name, if another one imports it', () => {
    const [one, two] = [root('one', '', ref('url')), root('two', '', ref('url'))];
    expect(inspect(one, two)).to.deep.equal([]);
    expect(inspect(one, two, root('web', ref('url'), ''))).to.deep.equal([
      'shop.yaml:18:3: error: "url" is already exported by one, so web, which imports it, would fail [root-export-conflict]',
    ]);
  });
});
