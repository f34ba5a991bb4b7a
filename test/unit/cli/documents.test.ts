import { expect } from 'chai';
import pico from 'picocolors';
import { nameLine, printJson, printObjects, printYaml } from '../../../src/cli/terminal/documents.ts';
import { planDocument } from '../../../src/cli/commands/plan/document.ts';
import { planLines } from '../../../src/cli/commands/plan/print.ts';
import type { PlannedTree } from '../../../src/cli/commands/plan/planned.ts';
import { noMask } from '../../../src/cli/commands/blueprints/rendering/mask.ts';

const LONG = 9_007_199_254_740_993n;

const counter = (value: bigint): object => ({
  apiVersion: 'v1',
  kind: 'Counter',
  metadata: { name: 'c' },
  spec: { value },
});

const tree = {
  items: [
    {
      path: 'app/web',
      type: 'x',
      target: 't',
      state: 'changed',
      plan: {
        objects: [
          {
            ref: { apiVersion: 'v1', kind: 'Counter', name: 'c' },
            change: 'change',
            before: counter(LONG),
            after: counter(LONG + 1n),
          },
        ],
        notes: [],
      },
    },
  ],
  problems: [],
  waits: [],
} as unknown as PlannedTree;

describe('integers beyond 2^53', () => {
  it('keep their digits in JSON output', () => {
    const expected = '[\n  {\n    "n": 9007199254740993\n  }\n]';
    expect(printJson([{ n: LONG }])).to.equal(expected);
  });

  it('keep their digits in YAML output', () => {
    expect(printYaml([{ size: LONG }, { size: 1 }])).to.equal('size: 9007199254740993\n---\nsize: 1');
  });

  it('keep their digits in plans, as text and as JSON', () => {
    const printing = { paint: pico.createColors(false), mask: noMask, hasDetails: false };
    expect(planLines(tree, printing).join('\n')).to.contain(
      'spec.value: 9007199254740993 → 9007199254740994',
    );
    expect(printJson(planDocument(tree, noMask))).to.contain('"before": 9007199254740993');
  });
});

describe('the names of objects', () => {
  const metadata = { name: 'web' };
  for (const [apiVersion, kind, expected] of [
    ['v1', 'ConfigMap', 'configmap/web'],
    ['landscaper.gardener.cloud/v1alpha1', 'DeployItem', 'deployitem.landscaper.gardener.cloud/web'],
  ] as const)
    it(`are those of kubectl: ${expected}`, () => {
      expect(nameLine({ apiVersion, kind, metadata })).to.equal(expected);
    });

  it('are a line each', () => {
    const objects = ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } }));
    expect(printObjects(objects, 'name')).to.equal('secret/a\nsecret/b');
  });
});
