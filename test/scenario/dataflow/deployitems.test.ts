/** Scenarios 9.3 of the data flow: from the results of deploy executions to the templates of an Execution. */
import { expect } from 'chai';
import { GROUP } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  aTarget,
  data,
  everythingInView,
  fails,
  go,
  itemsOf,
  shop,
  succeeds,
  takes,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject, target } from '../../support/landscape.ts';

const CONFIG = `config: {apiVersion: mock.deployer.${GROUP}/v1alpha1, kind: ProviderConfiguration}`;
const item = (name: string, more = ''): string => `{name: ${name}, type: ${GROUP}/mock, ${CONFIG}${more}}`;
const items = (...all: readonly string[]) => go(`deployItems: [${all.join(', ')}]`);
const executing = (...deployExecutions: readonly object[]): Given => ({ bp: { deployExecutions } });

/** One item that aims at a target import: `nodes` is a list, `clusters` a map, `one` a target. */
const aiming = (reference: string): Given => ({
  bp: {
    imports: [aTarget('nodes', 'targetList'), aTarget('clusters', 'targetMap'), aTarget('one')],
    deployExecutions: [
      items(item('a', `, target: ${reference}`).replace(`${GROUP}/mock`, 'test.example/fake')),
    ],
  },
  spec: {
    imports: {
      targets: [
        { name: 'nodes', targets: ['t1', 't2'] },
        { name: 'clusters', targetMap: { red: 't1', blue: 't2' } },
        { name: 'one', target: 't1' },
      ],
    },
  },
  objects: [target('t1'), target('t2')],
});

describe('a deploy item', () => {
  const here = useCluster();

  const aims: readonly [title: string, reference: string, name: string][] = [
    ['DF-67: goes to a target of a list', '{import: nodes, index: 1}', 't2'],
    ['DF-69: goes to a target of a map', '{import: clusters, key: blue}', 't2'],
    ['DF-70: goes to a target', '{import: one}', 't1'],
    ['DF-70: goes to a target that is named as an object, as of old', '{name: t2}', 't2'],
  ];
  for (const [title, reference, name] of aims) {
    it(title, async () => {
      const scene = await here.scene();
      const given = aiming(reference);
      for (const object of given.objects ?? []) await scene.create(object);
      await scene.create(shop(given));
      await scene.answer('shop', 'a');
      await scene.finished('shop', 'Succeeded');
      await everythingInView(scene);
      expect(itemsOf(scene)[0]?.target).to.deep.equal({ name, namespace: scene.ns });
      expect(scene.item('shop', 'a')?.spec.target).to.deep.equal({ name, namespace: scene.ns });
    });
  }

  it('DF-71: may be written under a key in any case', async () => {
    const scene = await succeeds(here, executing(go(`deployitems: [${item('a')}]`)));
    expect(itemsOf(scene).map(({ name }) => name)).to.deep.equal(['a']);
  });

  it('DF-72: may depend on one of another execution', async () => {
    const scene = await succeeds(here, executing(items(item('a')), items(item('b', ', dependsOn: [a]'))));
    expect(itemsOf(scene).map(({ name, dependsOn }) => [name, dependsOn])).to.deep.equal([
      ['a', undefined],
      ['b', ['a']],
    ]);
    const [a, b] = ['a', 'b'].map((name) => scene.item('shop', name)?.status?.jobIDGenerationTime);
    expect(Date.parse(b ?? '')).to.be.at.least(Date.parse(a ?? 'none'));
  });

  it('DF-74: may do without a target', async () => {
    const scene = await succeeds(here, executing(items(item('a'))));
    expect(scene.item('shop', 'a')?.spec.target).to.equal(undefined);
  });

  const inHandlebars = (name: string): Given => ({
    bp: {
      imports: [data('name')],
      deployExecutions: [{ name: 'd', type: 'Handlebars', template: `deployItems: [${item(name)}]` }],
    },
    spec: takes('name'),
    objects: [dataObject('name', 'web')],
  });

  it('DF-86: may come from a template in Handlebars', async () => {
    const scene = await succeeds(here, inHandlebars('{{imports.name}}'));
    expect(itemsOf(scene).map(({ name }) => name)).to.deep.equal(['web']);
  });

  it('DF-87: cannot come from a template in Handlebars that refers to nothing', async () => {
    const { error } = await fails(here, inHandlebars('{{imports.nope.x}}'));
    expect(error.message).to.contain('imports.nope.x');
    expect(error.message).to.contain('Reason: ReconcileExecution');
  });

  it('DF-88: may come from a file of the blueprint', async () => {
    const scene = await succeeds(here, {
      bp: { deployExecutions: [{ name: 'd', type: 'GoTemplate', file: 'dir/items.yaml' }] },
      files: { dir: { 'items.yaml': `deployItems: [${item('a')}]` } },
    });
    expect(itemsOf(scene)).to.have.length(1);
  });

  const wrong = (reference: string, why: string): readonly [Given, string] => [
    aiming(reference),
    `invalid deployitem specification "a": ${why}`,
  ];
  const failures: readonly (readonly [title: string, given: Given, message: string])[] = [
    [
      'DF-68: cannot go beyond the end of a list',
      ...wrong('{import: nodes, index: 5}', 'index 5 out of bounds'),
    ],
    [
      'DF-69: cannot go to a key that a map does not have',
      ...wrong('{import: clusters, key: green}', 'key "green" not found in targetmap import "clusters"'),
    ],
    ['DF-70: cannot go to what is not imported', ...wrong('{import: foo}', 'target import "foo" not found')],
    ['DF-70: cannot go to a list as a whole', ...wrong('{import: nodes}', 'target import "nodes" not found')],
    ['DF-70: cannot go nowhere', ...wrong('{}', 'empty target reference')],
    [
      'DF-73: cannot depend on one that is not there',
      executing(items(item('a', ', dependsOn: [zz]'))),
      'depends on undefined deploy item',
    ],
    [
      'DF-73: cannot depend on itself',
      executing(items(item('a', ', dependsOn: [a]'))),
      'cycle found in dependencies',
    ],
    [
      'cannot have the name of another',
      executing(items(item('a')), items(item('a'))),
      'Duplicate value: "a"',
    ],
    [
      'DF-88: cannot come from a template of an unknown type',
      executing({ name: 'd', type: 'Jinja', template: '' }),
      'unknown template type Jinja; known are GoTemplate, Spiff, Handlebars',
    ],
    [
      'DF-89: cannot come from an execution without a template',
      executing({ name: 'd', type: 'GoTemplate' }),
      'no template found',
    ],
    [
      'DF-89: cannot come from a file that is not there',
      executing({ name: 'd', type: 'GoTemplate', file: '/nope' }),
      'file does not exist: there is no /nope in the blueprint',
    ],
  ];
  for (const [title, given, message] of failures) {
    it(title, async () => {
      const { error, scene } = await fails(here, given);
      expect(error.message).to.contain('Reason: ReconcileExecution');
      expect(error.message).to.contain(message);
      expect(scene.execution('shop')).to.equal(undefined);
    });
  }
});
