import { expect } from 'chai';
import { comparisonsDuring } from '../../support/comparisons.ts';
import type { ImportSet } from '../../../src/blueprint/import-set.ts';
import { secretFinder, secretInChildren, secretInItems } from '../../../src/blueprint/secret-names.ts';

const imports = {
  data: new Map([
    ['db', { value: { user: 'admin', password: 'Hunter2-Hunter2' }, isSecret: true }],
    ['config', { value: { region: 'eu-central-1' }, isSecret: false }],
  ]),
} as unknown as ImportSet;
const find = secretFinder(imports);

const manifest = (name: string) => ({
  apiVersion: 'manifest.deployer.landscaper.gardener.cloud/v1alpha2',
  kind: 'ProviderConfiguration',
  manifests: [
    { manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'Hunter2-Hunter2' } } },
  ],
});

describe('a value of a secret in a name', () => {
  const rows: readonly (readonly [string, () => string | undefined, string])[] = [
    [
      'a deploy item',
      () => secretInItems([{ name: 'web-hunter2-hunter2' }], find),
      'the name of deploy item 1 ',
    ],
    [
      'a label',
      () => secretInItems([{ name: 'web', labels: { key: 'Hunter2-Hunter2' } }], find),
      'a label of deploy item "web"',
    ],
    [
      'an object',
      () => secretInItems([{ name: 'web', config: manifest('x-hunter2-hunter2') }], find),
      'the name of a ConfigMap in deploy item "web"',
    ],
    [
      'a sub-installation',
      () => secretInChildren([{ name: 'a' }, { name: 'hunter2-hunter2' }], find),
      'the name of sub-installation 2 ',
    ],
  ];
  for (const [what, check, words] of rows) {
    it(`is found in that of ${what}, and not repeated`, () => {
      const sentence = check() ?? '';
      expect(sentence).to.contain(words).and.contain('value of import "db", which comes from a secret');
      expect(sentence.toLowerCase()).to.not.contain('hunter2');
    });
  }

  it('is not found by a comparison of all names with all values', () => {
    const value = Array.from({ length: 1000 }, (_, i) => `secret-value-${String(i)}`);
    const many = secretFinder({ data: new Map([['s', { value, isSecret: true }]]) } as unknown as ImportSet);
    const templates = Array.from({ length: 1000 }, (_, i) => ({ name: `web-${String(i)}` }));
    let found: string | undefined;
    const comparisons = comparisonsDuring(() => {
      found = secretInChildren([...templates, { name: 'a-secret-value-999' }], many);
    });
    expect(found).to.contain('sub-installation 1001 ');
    expect(comparisons).to.be.at.most(10_000);
  });

  it('may be in the content of objects, which is where secrets belong', () => {
    expect(secretInItems([{ name: 'web', config: manifest('web') }], find)).to.equal(undefined);
  });

  it('is not detected if it is short, or does not come from a secret', () => {
    expect(secretInItems([{ name: 'admin', config: manifest('web-eu-central-1') }], find)).to.equal(
      undefined,
    );
    expect(secretInChildren([{ name: 'admin-eu-central-1' }], find)).to.equal(undefined);
  });
});
