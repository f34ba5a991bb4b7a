import { expect } from 'chai';
import { definitions } from '../../../src/api/kinds.ts';
import { installation } from '../../../src/api/kinds/installation.ts';
import { API_VERSION } from '../../../src/api/labels.ts';

const blueprint = { inline: { filesystem: {} } };
const specs: Readonly<Record<string, object>> = {
  Installation: { spec: { blueprint } },
  Execution: { spec: {} },
  DeployItem: { spec: { type: 't' } },
  Target: { spec: { type: 't' } },
  DataObject: { data: 5 },
  Context: {},
  ComponentVersionOverwrites: {},
  TargetSync: { spec: { sourceNamespace: 'n', secretRef: { name: 's' } } },
  LsHealthCheck: { status: 'Ok', lastUpdateTime: '2026-01-01T00:00:00Z', description: '' },
  CriticalProblems: {},
  JobRecord: {
    spec: { root: { name: 'r', uid: 'u' }, number: 1, jobID: 'j', request: { reason: 'r' }, result: 's' },
  },
  SyncObject: {
    spec: { podName: '', kind: 'k', name: 'n', lastUpdateTime: '2026-01-01T00:00:00Z', prefix: 'p' },
  },
};

describe('every kind', () => {
  for (const { kind, schema } of definitions) {
    const object = { apiVersion: API_VERSION, kind: kind.kind, metadata: { name: 'x' }, ...specs[kind.kind] };

    it(`${kind.kind} can be read with only its required fields`, () => {
      expect(schema.parse(object)).to.deep.equal(object);
    });

    it(`${kind.kind} keeps unknown fields, at any depth`, () => {
      const strange = withStrangers(object);
      expect(schema.parse(strange)).to.deep.equal(strange);
    });
  }
});

describe('an installation', () => {
  const parse = (spec: object): boolean =>
    installation.safeParse({ apiVersion: API_VERSION, kind: 'Installation', metadata: { name: 'x' }, spec })
      .success;

  const cases: readonly { readonly title: string; readonly spec: object; readonly accepted: boolean }[] = [
    { title: 'needs a blueprint', spec: {}, accepted: false },
    {
      title: 'may have a blueprint of a component',
      spec: { blueprint: { ref: { resourceName: 'r' } } },
      accepted: true,
    },
    {
      title: 'needs the name of the resource in a reference',
      spec: { blueprint: { ref: {} } },
      accepted: false,
    },
    {
      title: 'distinguishes an empty target list from a missing one',
      spec: { blueprint, imports: { targets: [{ name: 't', targets: [] }] } },
      accepted: true,
    },
    {
      title: 'rejects null as a target list',
      spec: { blueprint, imports: { targets: [{ name: 't', targets: null }] } },
      accepted: false,
    },
    {
      title: 'accepts Go durations and none',
      spec: {
        blueprint,
        automaticReconcile: {
          succeededReconcile: { interval: '1h30m' },
          failedReconcile: { interval: 'none' },
        },
      },
      accepted: true,
    },
    {
      title: 'rejects other durations',
      spec: { blueprint, automaticReconcile: { failedReconcile: { interval: '5 minutes' } } },
      accepted: false,
    },
    {
      title: 'accepts integers as counts',
      spec: { blueprint, automaticReconcile: { failedReconcile: { numberOfReconciles: 1.5 } } },
      accepted: false,
    },
    {
      title: 'accepts anything as a mapping',
      spec: { blueprint, importDataMappings: { a: '(( x ))', b: null, c: [1], d: { e: 1 } } },
      accepted: true,
    },
  ];
  for (const { title, spec, accepted } of cases) {
    it(title, () => {
      expect(parse(spec)).to.equal(accepted);
    });
  }
});

/** The same value with an unknown field in every object. */
function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, withStrangers(field)]);
  return { ...Object.fromEntries(fields), strange: { deep: [1] } };
}
