import { outcome } from '../../support/outcome.ts';
import { expect } from 'chai';
import { ExportInvalid, TemplateFailed } from '../../../src/blueprint/errors.ts';
import { renderExports, type ExportSources } from '../../../src/blueprint/exports.ts';
import type { InstallationSpec } from '../../../src/api/kinds/installation.ts';
import { blueprint, CLUSTER, context, installation } from '../dataflow/given.ts';

const str = { name: 'out', type: 'data', schema: { type: 'string' } };
const any = (name: string) => ({ name, type: 'data', schema: {} });
const tgt = (targetType = CLUSTER) => ({ name: 't', type: 'target', targetType });
const asksFor = (...names: string[]) => ({ data: names.map((name) => ({ name, dataRef: `ref-${name}` })) });
const asksForTarget = { targets: [{ name: 't', target: 'target-out' }] };
const noSources: ExportSources = { deployitems: {}, dataobjects: {}, targets: {} };

interface Given {
  readonly exports?: InstallationSpec['exports'];
  readonly definitions?: readonly object[];
  readonly templates?: readonly string[];
  readonly mappings?: Record<string, unknown>;
  readonly sources?: Partial<ExportSources>;
}
const run = ({ exports, definitions = [], templates = [], mappings, sources = {} }: Given) => {
  const exportExecutions = templates.map((template, i) => ({ name: `e${i}`, type: 'GoTemplate', template }));
  const spec = { ...(exports ? { exports } : {}), ...(mappings ? { exportDataMappings: mappings } : {}) };
  return renderExports(
    context(blueprint({ exports: definitions, exportExecutions }), { region: 'eu' }),
    installation('shop', spec),
    { ...noSources, ...sources },
  );
};
const values = async (given: Given): Promise<Record<string, unknown>> =>
  Object.fromEntries((await run(given)).data.map(({ ref, value }) => [ref, value]));

describe('exports', () => {
  it('are the results of executions for declared names, with the names of the installation', async () => {
    const given = {
      exports: asksFor('out'),
      definitions: [str],
      templates: ['exports: {out: hello, other: 1}'],
    };
    expect((await run(given)).data).to.deep.equal([{ name: 'out', ref: 'ref-out', value: 'hello' }]);
  });

  it('may be exported under two names', async () => {
    const data = [
      { name: 'out', dataRef: 'a' },
      { name: 'out', dataRef: 'b' },
    ];
    expect(
      await values({ exports: { data }, definitions: [str], templates: ['exports: {out: x}'] }),
    ).to.deep.equal({ a: 'x', b: 'x' });
  });

  it('of several executions are merged, maps recursively', async () => {
    const templates = ['exports: {out: {a: 1, l: [1], __proto__: {x: 1}}}', 'exports: {out: {b: 2, l: [2]}}'];
    const { 'ref-out': out } = await values({
      exports: asksFor('out'),
      definitions: [any('out')],
      templates,
    });
    expect(JSON.stringify(out)).to.equal('{"a":1,"l":[2],"__proto__":{"x":1},"b":2}');
  });

  it('see results of items, own data and targets, also below values', async () => {
    const template =
      'exports: {out: [{{ .deployitems.app.url }}, {{ .values.deployitems.app.url }}, {{ .dataobjects.region }}, {{ .targets.cl.spec.type }}, {{ .imports.region }}]}';
    const sources = {
      deployitems: { app: { url: 'u' } },
      dataobjects: { region: 'r' },
      targets: { cl: { spec: { type: 'k' } } },
    };
    expect(
      await values({ exports: asksFor('out'), definitions: [any('out')], templates: [template], sources }),
    ).to.deep.equal({
      'ref-out': ['u', 'u', 'r', 'k', 'eu'],
    });
  });

  it('need no value if they are not mapped', async () => {
    expect(await run({ definitions: [str], templates: ['exports: {}'] })).to.deep.equal({
      data: [],
      targets: [],
    });
  });

  it('of mappings replace declared values of the same name, whose value they see', async () => {
    const given = { exports: asksFor('out'), definitions: [str], templates: ['exports: {out: x}'] };
    expect(await values({ ...given, mappings: { out: '(( out "!" ))' } })).to.deep.equal({ 'ref-out': 'x!' });
  });

  it('may come from mappings, which see declared values directly and below exports', async () => {
    const mappings = {
      renamed: '(( "<" exports.raw ">" ))',
      bare: '(( raw "!" ))',
      inner: '(( exports.exports ))',
      undeclared: 'asked for all the same',
    };
    const given = {
      exports: asksFor('renamed', 'bare', 'inner', 'undeclared'),
      definitions: ['renamed', 'bare', 'inner', 'raw', 'exports'].map(any),
      templates: ['exports: {raw: x, exports: inner}'],
      mappings,
    };
    expect(await values(given)).to.deep.equal({
      'ref-renamed': '<x>',
      'ref-bare': 'x!',
      'ref-inner': 'inner',
      'ref-undeclared': 'asked for all the same',
    });
  });

  it('may be targets', async () => {
    const template = `exports: {t: {type: ${CLUSTER}, config: {kubeconfig: abc}, labels: {a: b}, annotations: {c: 5}}}`;
    expect(
      (await run({ exports: asksForTarget, definitions: [tgt('kubernetes-cluster')], templates: [template] }))
        .targets,
    ).to.deep.equal([
      {
        name: 't',
        ref: 'target-out',
        type: CLUSTER,
        config: { kubeconfig: 'abc' },
        labels: { a: 'b' },
        annotations: { c: '5' },
      },
    ]);
  });

  it('may be targets with a secret', async () => {
    const template = `exports: {t: {type: ${CLUSTER}, secretRef: {name: s, key: k}}}`;
    const [value] = (await run({ exports: asksForTarget, definitions: [tgt()], templates: [template] }))
      .targets;
    expect(value)
      .to.deep.include({ secretRef: { name: 's', key: 'k' } })
      .and.not.have.property('config');
  });
});

describe('exports that fail because of', () => {
  const rows: readonly [string, Given, string][] = [
    [
      'a missing value',
      { exports: asksFor('out'), definitions: [str], templates: ['exports: {other: 5}'] },
      '(inst: shop).internalExports.exports.data.out: data export is not defined',
    ],
    [
      'an undeclared value',
      { exports: asksFor('out'), templates: ['exports: {out: 5}'] },
      'exports.data.out: data export is not defined',
    ],
    [
      'a missing execution',
      { exports: asksFor('out'), definitions: [str] },
      'exports.data.out: data export is not defined',
    ],
    [
      'a missing target',
      { exports: asksForTarget, definitions: [tgt()], templates: ['exports: {}'] },
      'exports.targets.t: target export is not defined',
    ],
    [
      'an invalid value, mapped or not',
      { definitions: [str], templates: ['exports: {out: 5}'] },
      '(inst: shop).internalExports.exports.out: exported data does not satisfy the configured schema: (root): Invalid type. Expected: string, given: integer',
    ],
    [
      'an invalid value that a mapping would repair',
      {
        exports: asksFor('out'),
        definitions: [str],
        templates: ['exports: {out: 5}'],
        mappings: { out: 'x' },
      },
      'Expected: string, given: integer',
    ],
    [
      'an invalid value from a mapping',
      { exports: asksFor('out'), definitions: [str], mappings: { out: 5 } },
      'Expected: string, given: integer',
    ],
    [
      'a missing schema',
      { definitions: [{ name: 'out', type: 'data' }], templates: ['exports: {out: 5}'] },
      'schema for data export "out" must not be empty',
    ],
    [
      'an unknown type',
      { definitions: [{ ...str, type: 'magic' }], templates: ['exports: {out: 5}'] },
      "unknown export type 'magic'",
    ],
    [
      'another target type',
      { definitions: [tgt()], templates: ['exports: {t: {type: other}}'] },
      `exported target type is other but expected ${CLUSTER}`,
    ],
    [
      'a short target type in the value',
      { definitions: [tgt('kubernetes-cluster')], templates: ['exports: {t: {type: kubernetes-cluster}}'] },
      `exported target type is kubernetes-cluster but expected ${CLUSTER}`,
    ],
    [
      'a target without type',
      { definitions: [tgt()], templates: ['exports: {t: {config: {}}}'] },
      'exported target does not match the expected target template schema: type is not found',
    ],
    ['a string as target', { definitions: [tgt()], templates: ['exports: {t: text}'] }, 'type is not found'],
    [
      'a target with unknown fields',
      {
        exports: asksForTarget,
        definitions: [tgt()],
        templates: [`exports: {t: {type: ${CLUSTER}, configuration: {}}}`],
      },
      'unknown field configuration; a target has type, config or secretRef',
    ],
  ];
  for (const [title, given, message] of rows) {
    it(title, async () => expect(await outcome(run(given))).to.throw(ExportInvalid, message));
  }

  it('a template that fails', async () => {
    expect(await outcome(run({ templates: ['exports: {out: {{ .imports.nope.x }}}'] }))).to.throw(
      TemplateFailed,
      'nil pointer evaluating',
    );
  });

  it('a result of the wrong form', async () => {
    expect(await outcome(run({ templates: ['exports: [1]'] }))).to.throw(
      TemplateFailed,
      'exports: expected a map, found a list',
    );
  });

  it('a result with a missing value', async () => {
    expect(await outcome(run({ templates: ['exports: {out: {{ .imports.nope }} }'] }))).to.throw(
      TemplateFailed,
      'contains fields with "no value"',
    );
  });
});
