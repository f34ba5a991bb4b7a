import { expect } from 'chai';
import { comparisonsDuring } from '../../support/comparisons.ts';
import type { ImportSet } from '../../../src/blueprint/import-set.ts';
import {
  openTexts,
  secretFinder,
  secretInChildren,
  secretInItems,
} from '../../../src/blueprint/secret-names.ts';
import { fileTreeOf } from '../../../src/lib/file-tree.ts';

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

describe('a value of a secret that is readable elsewhere', () => {
  const login = ['login', { value: { user: 'Postgres', alias: 'postgres-admin' }, isSecret: true }] as const;
  const named = (value: unknown) => ['settings', { value, isSecret: false }] as const;
  const tree = (files: Readonly<Record<string, string>>) =>
    fileTreeOf(new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])));
  const item = [{ name: 'db', config: manifest('postgres-login') }];
  type Data = readonly (readonly [string, { readonly value: unknown; readonly isSecret: boolean }])[];
  const checked = (files: Readonly<Record<string, string>>, data: Data = [login], name = 'db') => {
    const set = { data: new Map(data) } as unknown as ImportSet;
    return secretInItems(
      item,
      secretFinder(set, () => openTexts({ name, namespace: 'shop' }, tree(files), set)),
    );
  };

  it('may be in a name if the blueprint says it', () => {
    expect(checked({ 'blueprint.yaml': 'a: {{ .imports.login.user }}' })).to.contain('import "login"');
    expect(checked({ 'blueprint.yaml': 'name: postgres-login' })).to.equal(undefined);
    expect(checked({ 'templates/deep/items.tpl': 'name: POSTGRES' })).to.equal(undefined);
  });

  it('may be in a name if another import says it, or the installation is called so', () => {
    expect(checked({}, [login, named({ db: 'postgres' })])).to.equal(undefined);
    expect(checked({}, [login], 'postgres')).to.equal(undefined);
    expect(checked({}, [login, named({ db: 'mysql' })])).to.contain('import "login"');
    expect(checked({}, [login, named([{ list: [{ postgres: 1 }] }, 'mysql'])])).to.equal(undefined);
  });

  it('does not open a longer value that begins with it', () => {
    const set = { data: new Map([login]) } as unknown as ImportSet;
    const find = secretFinder(set, () => ['postgres']);
    expect(secretInItems([{ name: 'x-postgres-admin' }], find)).to.contain('import "login"');
    const both = secretFinder(set, () => ['postgres-admin']);
    expect(secretInItems([{ name: 'x-postgres' }], both)).to.equal(undefined);
  });

  it('is not searched in files and imports beyond a limit, and not at all if no name has a value', () => {
    const filler = 'x'.repeat(3 * 2 ** 20);
    expect(checked({ 'large.txt': `${filler} postgres` })).to.contain('import "login"');
    expect(checked({}, [login, named({ filler, db: 'postgres' })])).to.contain('import "login"');
    expect(checked({ 'a.txt': 'postgres' }, [login, named({ filler })])).to.contain('import "login"');
    expect(checked({}, [login, named({ db: 'postgres', filler })])).to.equal(undefined);
    const set = { data: new Map([login]) } as unknown as ImportSet;
    const unread = (): Iterable<string> => {
      throw new Error('it was read');
    };
    expect(secretInItems([{ name: 'web' }], secretFinder(set, unread))).to.equal(undefined);
  });
});
