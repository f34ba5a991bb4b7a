/** Data mappings, and import executions with their bindings and errors. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { objectName } from '../../../src/dataflow/scope.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  bpFile,
  data,
  everythingInView,
  fails,
  go,
  keepingImports,
  kept,
  succeeds,
  takes,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject } from '../../support/landscape.ts';

const mapped = (importDataMappings: object, ...imports: readonly object[]): Given => ({
  bp: { imports, ...keepingImports },
  spec: { importDataMappings, ...takes('proto', 'host') },
  objects: [dataObject('proto', 'http'), dataObject('host', 'db')],
});

describe('an import data mapping', () => {
  const here = useCluster();

  it('DF-26: computes imports of the blueprint from those of the installation', async () => {
    const given = mapped(
      { url: '(( proto "://" host ))', host: 'fixed' },
      data('url', TEXT),
      data('host', TEXT),
    );
    expect(kept(await succeeds(here, given))).to.deep.equal({ url: 'http://db', host: 'fixed' });
  });

  it('DF-27: names a missing value', async () => {
    const { error } = await fails(here, mapped({ x: '(( nope ))' }, data('x')));
    expect(error.message).to.contain('unable to template import mapping template shop.x: unresolved nodes:');
    expect(error.message).to.contain("*'nope' not found");
  });

  it('DF-28: cannot run a program on the host', async () => {
    const trace = join(tmpdir(), `espalier-df-28-${process.pid}`);
    const { error } = await fails(here, mapped({ x: `(( exec("touch", "${trace}") ))` }, data('x')));
    expect(error.message).to.contain('unable to template import mapping template shop.x');
    expect(existsSync(trace)).to.equal(false);
  });

  it('may give null, which is stored', async () => {
    const scene = await succeeds(here, mapped({ x: '(( ~ ))' }, data('x')));
    expect(kept(scene)).to.deep.equal({ x: null });
    expect(scene.dataObject(objectName('Inst.shop', 'x'))?.data).to.equal(null);
  });
});

describe('an import execution', () => {
  const here = useCluster();

  const affixes = (suffix: string, ...templates: readonly string[]): Given => ({
    bp: {
      imports: [data('prefix', TEXT), data('suffix', TEXT)],
      importExecutions: templates.map((template, i) => go(template, `e${i}`)),
      ...keepingImports,
    },
    spec: takes('prefix', 'suffix'),
    objects: [dataObject('prefix', 'p'), dataObject('suffix', suffix)],
  });
  const joined = [
    '{{ if eq .imports.prefix .imports.suffix }}errors: [same]{{ end }}',
    'bindings: {full: "{{ .imports.prefix }}-{{ .imports.suffix }}"}',
  ].join('\n');

  it('DF-33: adds values that later templates see, and that are not stored', async () => {
    const scene = await succeeds(
      here,
      affixes('s', joined, 'bindings: {twice: "{{ .imports.full }}{{ .imports.full }}"}'),
    );
    expect(kept(scene)).to.deep.equal({ prefix: 'p', suffix: 's', full: 'p-s', twice: 'p-sp-s' });
    expect(scene.dataObject(objectName('Inst.shop', 'prefix'))?.data).to.equal('p');
    expect(scene.dataObject(objectName('Inst.shop', 'full'))).to.equal(undefined);
  });

  it('DF-33: may change an import, also its type, and the changed value is stored', async () => {
    const scene = await succeeds(here, affixes('s', 'bindings: {suffix: {a: null}}'));
    expect(kept(scene)).to.deep.equal({ prefix: 'p', suffix: { a: null } });
    expect(scene.dataObject(objectName('Inst.shop', 'suffix'))?.data).to.deep.equal({ a: null });
  });

  it('may set a field to null that was not set in the previous job', async () => {
    const bound = (value: string) => affixes('s', `bindings: {suffix: ${value}}`);
    const scene = await succeeds(here, bound('{a: {b: 1}}'));
    await scene.setBlueprint('shop', JSON.parse(bpFile(bound('{a: {b: null}}').bp ?? {})) as object);
    await scene.again('shop', 'Succeeded');
    await everythingInView(scene);
    expect(scene.dataObject(objectName('Inst.shop', 'suffix'))?.data).to.deep.equal({ a: { b: null } });
    expect(kept(scene)).to.deep.equal({ prefix: 'p', suffix: { a: { b: null } } });
    const { config } = scene.item('shop', 'a')?.spec ?? {};
    expect(config).to.have.deep.nested.property('kept.suffix', { a: { b: null } });
  });

  it('DF-34: rejects imports with its own message, also in a condition', async () => {
    const { error, self } = await fails(here, affixes('p', joined));
    expect(error.message).to.contain('import validation failed: same');
    const condition = self.status?.conditions?.find(({ type }) => type === 'ValidateImports');
    expect(condition).to.include({ status: 'False', reason: 'ImportValidationFailed', message: 'same' });
  });

  it('DF-35: that rejects imports is the last one that runs', async () => {
    const { error } = await fails(here, affixes('s', 'errors: [e1, e2]', '{{ broken'));
    expect(error.message).to.match(/import validation failed: e1, e2$/m);
  });

  it('DF-77: renders a missing value as a string', async () => {
    const scene = await succeeds(here, affixes('s', 'bindings: {x: "{{ .imports.nope }}"}'));
    expect(kept(scene)).to.have.property('x', '<no value>');
  });

  it('cannot provide a missing required import', async () => {
    const given = affixes('s', 'bindings: {more: x}');
    const bp = { ...given.bp, imports: [data('more')] };
    const { error } = await fails(here, { ...given, bp });
    expect(error.message).to.contain('import "more" of type data, which is not satisfied');
  });
});
