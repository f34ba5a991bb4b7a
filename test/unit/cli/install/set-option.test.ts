/** `--set` and `--values` of `espalier install`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { withSetOption } from '../../../../src/cli/commands/install/set-option.ts';
import { settingsFrom, type InstallOptions } from '../../../../src/cli/commands/install/settings.ts';
import { imageValue } from '../../../../src/cli/commands/install/values.ts';
import { UsageError } from '../../../../src/cli/errors.ts';

describe('an option --set', () => {
  for (const [option, values] of [
    ['a=1', { a: 1 }],
    ['a.b=x,c=true', { a: { b: 'x' }, c: true }],
    ['a=', { a: '' }],
    ['a=null,b=false,c=0,d=-3', { a: null, b: false, c: 0, d: -3 }],
    ['a=TRUE', { a: true }],
    ['a=01,b=1.5,c=nullable', { a: '01', b: '1.5', c: 'nullable' }],
    ['a={x,2,},b={}', { a: ['x', 2, ''], b: [] }],
    ['a[1].b=x,a[0]=y', { a: ['y', { b: 'x' }] }],
    ['a[0][1]=x', { a: [[null, 'x']] }],
    [String.raw`a\.b/c=1\,2,d=\{x\}`, { 'a.b/c': '1,2', d: '{x}' }],
    ['a=b=c', { a: 'b=c' }],
    ['__proto__.x=1', Object.defineProperty({}, '__proto__', { value: { x: 1 }, enumerable: true })],
  ] as const)
    it(`is read like in Helm: ${option}`, () => {
      const read = withSetOption({}, option);
      expect(JSON.stringify(read)).to.equal(JSON.stringify(values));
    });

  for (const [option, message] of [
    ['a', '"a" has no value'],
    ['a,b=1', '"a" has no value'],
    ['=1', 'a key is empty'],
    ['a..b=1', 'a key is empty'],
    ['a[x]=1', '"[x]" is not an index from 0 to 1000'],
    ['a[5000]=1', '"[5000]" is not an index from 0 to 1000'],
    ['a[1', '"[1" is not an index from 0 to 1000'],
    ['a={x', 'a list has no "}"'],
    ['a={x}y', 'there must be a comma after "}"'],
  ] as const)
    it(`is refused with a reason: ${option}`, () => {
      expect(() => withSetOption({}, option)).to.throw(
        UsageError,
        `--set ${option}: ${message}; write it like`,
      );
    });

  it('changes only the given keys, and not its argument', () => {
    const before = { a: { b: 1, c: [1, 2] } };
    expect(withSetOption(before, 'a.c[1]=3')).to.deep.equal({ a: { b: 1, c: [1, 3] } });
    expect(before).to.deep.equal({ a: { b: 1, c: [1, 2] } });
  });
});

describe('the values of an installation', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-values-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const valuesOf = (options: Partial<InstallOptions>) =>
    settingsFrom({ namespace: 'ls-system', crds: true, ...options });

  it('come from files, then from options, then from --set', () => {
    const values = [
      file('a.yaml', 'image: {repository: a/b, tag: "1"}\nreplicas: 2\npodLabels: {x: a, w: a}\n'),
      file('b.yaml', 'podLabels: {x: b}\nwebhooks: {enabled: true}\n'),
    ];
    const settings = valuesOf({ values, replicas: 3, set: ['image.tag=v2', 'podLabels.z=c'] });
    expect(settings).to.deep.equal({
      namespace: 'ls-system',
      crds: true,
      webhooks: true,
      console: false,
      values: {
        image: { repository: 'a/b', tag: 'v2' },
        replicas: 3,
        podLabels: { x: 'b', w: 'a', z: 'c' },
        webhooks: { enabled: true },
        managedBy: 'espalier-install',
      },
    });
    expect(valuesOf({ values, webhooks: false }).webhooks).to.equal(false);
  });

  it('have the configuration of --config instead of the one in a file, and validate both', () => {
    const values = [file('a.yaml', 'config: {helm: {chartCacheSize: 1}}\n')];
    const config = file('c.yaml', 'crdManagement: {deployCrd: false}\n');
    const settings = valuesOf({ image: 'a/b:1', values, config });
    expect(settings.values['config']).to.deep.equal({ crdManagement: { deployCrd: false } });
    expect(settings.crds).to.equal(false);
    const set = ['config.deployItemTimeouts.pickup=soon'];
    expect(() => valuesOf({ image: 'a/b:1', set })).to.throw(
      UsageError,
      'configuration in the values: deployItemTimeouts.pickup: "soon" is not a duration',
    );
  });

  it('must name an image', () => {
    expect(() => valuesOf({ set: ['image.tag=1'] })).to.throw(UsageError, 'no image given');
    expect(() => valuesOf({ set: ['image.repository=a'] })).not.to.throw();
  });

  it('of files that cannot be read are refused', () => {
    expect(() => valuesOf({ values: [file('a.yaml', '- a\n')] })).to.throw(
      'a.yaml: expected a map of values',
    );
    expect(() => valuesOf({ values: [file('a.yaml', 'a: [')] })).to.throw(UsageError, 'cannot read values');
    expect(() => valuesOf({ values: ['/nowhere'] })).to.throw('cannot read values /nowhere: ENOENT');
  });

  for (const [image, value] of [
    ['a/b:1', { repository: 'a/b', tag: '1', digest: '' }],
    ['host:5000/a/b', { repository: 'host:5000/a/b', tag: 'latest', digest: '' }],
    [
      'host:5000/a:1@sha256:' + 'a'.repeat(64),
      { repository: 'host:5000/a', tag: '1', digest: 'sha256:' + 'a'.repeat(64) },
    ],
    ['a@sha256:' + 'a'.repeat(64), { repository: 'a', tag: '', digest: 'sha256:' + 'a'.repeat(64) }],
  ] as const)
    it(`split an image: ${image.slice(0, 30)}`, () => {
      expect(imageValue(image)).to.deep.equal(value);
    });
});
