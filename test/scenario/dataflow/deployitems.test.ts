/** From the results of deploy executions to the templates of an Execution. */
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

/** One item that refers to a target import: `nodes` is a list, `clusters` a map, `one` a target. */
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
    ['DF-67: may use a target of a list', '{import: nodes, index: 1}', 't2'],
    ['DF-69: may use a target of a map', '{import: clusters, key: blue}', 't2'],
    ['DF-70: may use a target', '{import: one}', 't1'],
    ['DF-70: may use a target that is named as an object (deprecated)', '{name: t2}', 't2'],
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

  it('DF-71: may be written with keys in any case', async () => {
    const scene = await succeeds(here, executing(go(`deployitems: [${item('a')}]`)));
    expect(itemsOf(scene).map(({ name }) => name)).to.deep.equal(['a']);
  });

  it('DF-72: may depend on an item of another execution', async () => {
    const scene = await succeeds(here, executing(items(item('a')), items(item('b', ', dependsOn: [a]'))));
    expect(itemsOf(scene).map(({ name, dependsOn }) => [name, dependsOn])).to.deep.equal([
      ['a', undefined],
      ['b', ['a']],
    ]);
    const [a, b] = ['a', 'b'].map((name) => scene.item('shop', name)?.status?.jobIDGenerationTime);
    expect(Date.parse(b ?? '')).to.be.at.least(Date.parse(a ?? 'none'));
  });

  it('DF-74: may have no target', async () => {
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

  it('DF-86: may come from a Handlebars template', async () => {
    const scene = await succeeds(here, inHandlebars('{{imports.name}}'));
    expect(itemsOf(scene).map(({ name }) => name)).to.deep.equal(['web']);
  });

  it('DF-87: fails if its Handlebars template refers to a missing value', async () => {
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
      'DF-68: cannot use an index beyond the end of a list',
      ...wrong('{import: nodes, index: 5}', 'index 5 out of bounds'),
    ],
    [
      'DF-69: cannot use a key that a map does not have',
      ...wrong('{import: clusters, key: green}', 'key "green" not found in targetmap import "clusters"'),
    ],
    [
      'DF-70: cannot use a target that is not imported',
      ...wrong('{import: foo}', 'target import "foo" not found'),
    ],
    [
      'DF-70: cannot use a whole list as target',
      ...wrong('{import: nodes}', 'target import "nodes" not found'),
    ],
    ['DF-70: cannot have an empty target', ...wrong('{}', 'empty target reference')],
    [
      'DF-73: cannot depend on a missing item',
      executing(items(item('a', ', dependsOn: [zz]'))),
      'depends on undefined deploy item',
    ],
    [
      'DF-73: cannot depend on itself',
      executing(items(item('a', ', dependsOn: [a]'))),
      'cycle found in dependencies',
    ],
    [
      'cannot have the same name as another',
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
      'DF-89: cannot come from a missing file',
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
