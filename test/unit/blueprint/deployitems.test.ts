import { expect } from 'chai';
import {
  checkDeployItems,
  deployItemsFrom,
  renderDeployItems,
  type TargetObjects,
} from '../../../src/blueprint/deployitems.ts';
import { DeployItemsInvalid, TemplateFailed } from '../../../src/blueprint/errors.ts';
import { outcome } from '../../support/outcome.ts';
import { blueprint, context, runner, target } from '../dataflow/given.ts';

const targets: TargetObjects = {
  namespace: 'demo',
  targets: new Map([['cluster', target('my-cluster')]]),
  targetLists: new Map([['nodes', [target('t2'), target('t1')]]]),
  targetMaps: new Map([['clusters', { red: target('t1'), blue: target('t2') }]]),
};
const execution = { name: 'main', type: 'GoTemplate' };
const read = (...deployItems: unknown[]) => deployItemsFrom({ deployItems }, targets, execution);
const item = (name: string, more: object = {}) => ({ name, type: 'test.example/fake', config: {}, ...more });

describe('deploy item templates', () => {
  it('become deploy items, with durations as upstream stores them', () => {
    const full = {
      name: 'app',
      type: 'test.example/fake',
      labels: { team: 'blue', n: 5 },
      config: { kind: 'Cfg' },
      dependsOn: ['db'],
      timeout: '1h30m',
      updateOnChangeOnly: true,
      onDelete: { skipUninstallIfClusterRemoved: true },
      unknown: 1,
    };
    const { unknown: _, ...known } = full;
    expect(read(full)).to.deep.equal([{ ...known, labels: { team: 'blue', n: '5' }, timeout: '1h30m0s' }]);
  });

  it('have no fields that the template did not set', () =>
    expect(read(item('a'))).to.deep.equal([item('a')]));

  it('are read with keys in any case', () => {
    expect(
      deployItemsFrom({ deployitems: [{ Name: 5, TYPE: 'x', config: {} }] }, targets, execution),
    ).to.deep.equal([{ name: '5', type: 'x', config: {} }]);
  });

  it('may be empty', () => {
    for (const output of [null, {}, { deployItems: null }, { other: 1 }]) {
      expect(deployItemsFrom(output, targets, execution)).to.deep.equal([]);
    }
  });

  const references: readonly [string, object, string][] = [
    ['a target import', { import: 'cluster' }, 'my-cluster'],
    ['an element of a list', { import: 'nodes', index: 1 }, 't1'],
    ['an entry of a map', { import: 'clusters', key: 'blue' }, 't2'],
    ['an object by name', { name: 'by-name' }, 'by-name'],
  ];
  for (const [title, reference, name] of references) {
    it(`refer to ${title}`, () => {
      expect(read(item('a', { target: reference }))[0]?.target).to.deep.equal({ name, namespace: 'demo' });
    });
  }

  const mistakes: readonly [object, string][] = [
    [{ import: 'foo' }, 'target import "foo" not found'],
    [{ import: 'nodes' }, 'target import "nodes" not found'],
    [{ import: 'nodes', index: 5 }, 'index 5 out of bounds'],
    [{ import: 'nodes', index: -1 }, 'index -1 out of bounds'],
    [{ import: 'cluster', index: 0 }, 'targetlist import "cluster" not found'],
    [{ import: 'clusters', key: 'green' }, 'key "green" not found in targetmap import "clusters"'],
    [
      { import: 'clusters', key: 'constructor' },
      'key "constructor" not found in targetmap import "clusters"',
    ],
    [{ import: 'cluster', key: 'red' }, 'targetmap import "cluster" not found'],
    [{}, 'empty target reference'],
  ];
  for (const [reference, why] of mistakes) {
    it(`are rejected: ${why}`, () => {
      const message = `invalid deployitem specification "a": ${why}`;
      expect(() => read(item('a', { target: reference }))).to.throw(DeployItemsInvalid, message);
    });
  }

  const malformed: readonly [string, unknown, string][] = [
    ['the list is a string', { deployItems: 'nothing' }, 'deployItems: expected a list, found a string'],
    ['an item is a number', { deployItems: [5] }, 'deployItems[0]: expected a map, found a number'],
    ['the result is a list', [1], 'expected a map, found a list'],
    ['a timeout is invalid', { deployItems: [item('a', { timeout: 'soon' })] }, '"soon" is not a duration'],
  ];
  for (const [title, output, message] of malformed) {
    it(`cannot be read if ${title}`, () => {
      expect(() => deployItemsFrom(output, targets, execution))
        .to.throw(TemplateFailed, message)
        .with.deep.property('codes', ['ERR_FOR_INFO_ONLY']);
    });
  }
});

describe('the list of deploy items', () => {
  const rows: readonly [string, readonly object[], string][] = [
    ['requires names', [item('')], 'deployExecutions[0].name: Required value: name must not be empty'],
    [
      'requires types',
      [item('a', { type: '' })],
      'deployExecutions[0][a].type: Required value: type must not be empty',
    ],
    ['requires unique names', [item('a'), item('a')], 'deployExecutions[1]: Duplicate value: "a"'],
    [
      'requires that dependencies exist',
      [item('a', { dependsOn: ['zz'] })],
      'deployExecutions[0][a]: Invalid value: "zz": depends on undefined deploy item',
    ],
    [
      'has no item that depends on itself',
      [item('a', { dependsOn: ['a'] })],
      'deployExecutions: Invalid value: ["a"]: cycle found in dependencies',
    ],
    [
      'has no cycle',
      [item('a', { dependsOn: ['b'] }), item('b', { dependsOn: ['a'] })],
      'deployExecutions: Invalid value: ["a","b"]: cycle found in dependencies',
    ],
    [
      'requires valid label keys',
      [item('a', { labels: { 'no key': 'x' } })],
      'deployExecutions[0][a].labels: Invalid value: "no key"',
    ],
    [
      'requires valid label values',
      [item('a', { labels: { k: 'no value' } })],
      'deployExecutions[0][a].labels: Invalid value: "no value"',
    ],
  ];
  for (const [title, items, message] of rows) {
    it(title, () => {
      expect(() => checkDeployItems(items as never)).to.throw(
        DeployItemsInvalid,
        `error validating deployitem templates: ${message}`,
      );
    });
  }

  it('shows all mistakes at once', () => {
    expect(() => checkDeployItems([item(''), item('a', { type: '' })])).to.throw(
      /templates: \[.*name must.*, .*type must.*\]/,
    );
  });

  it('may be in any order', () => checkDeployItems([item('b', { dependsOn: ['a'] }), item('a')]));
});

describe('the number of deploy items', () => {
  /** Renders a blueprint whose deploy executions return this many items each. */
  const render = async (...counts: readonly number[]) => {
    const executions = counts.map((_, i) => ({ name: `e${String(i)}`, type: 'GoTemplate', template: '' }));
    const outputs = counts.map((count, i) => ({
      deployItems: Array.from({ length: count }, (_, n) => item(`e${String(i)}-${String(n)}`)),
    }));
    const loaded = blueprint({ deployExecutions: executions });
    const counting = { ...runner, render: () => Promise.resolve({ output: outputs.shift() }) };
    return outcome(renderDeployItems({ ...context(loaded, {}), runner: counting }, targets));
  };

  it('may be 10000', async () => expect((await render(4000, 6000))()).to.have.length(10_000));

  const sentence = (name: string, count: number): string =>
    `with deploy execution "${name}" the blueprint has ${String(count)} deploy items; the limit is 10000 for one installation`;

  it('is over the limit if one execution renders 200000', async () => {
    expect(await render(200_000)).to.throw(DeployItemsInvalid, sentence('e0', 200_000));
  });

  it('counts all executions together', async () => {
    expect(await render(4000, 6001)).to.throw(DeployItemsInvalid, sentence('e1', 10_001));
  });

  it('is counted before the items are read', async () => {
    const loaded = blueprint({ deployExecutions: [{ name: 'e', type: 'GoTemplate', template: '' }] });
    const output = { deployItems: Array.from({ length: 10_001 }, () => 'not an item') };
    const counting = { ...runner, render: () => Promise.resolve({ output }) };
    expect(await outcome(renderDeployItems({ ...context(loaded, {}), runner: counting }, targets))).to.throw(
      DeployItemsInvalid,
      sentence('e', 10_001),
    );
  });

  it('and their size: more than an execution can store is rejected', async () => {
    const loaded = blueprint({ deployExecutions: [{ name: 'e', type: 'GoTemplate', template: '' }] });
    const output = { deployItems: [item('a', { config: { text: 'x'.repeat(16 << 20) } })] };
    const sized = { ...runner, render: () => Promise.resolve({ output }) };
    expect(await outcome(renderDeployItems({ ...context(loaded, {}), runner: sized }, targets))).to.throw(
      DeployItemsInvalid,
      /have 167\d{5} bytes as JSON; the limit is 16 MiB for one installation/,
    );
  });
});
