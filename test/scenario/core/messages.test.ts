/** The messages for common mistakes: in the status, in events, and in the output of `installations inspect`. */
import { expect } from 'chai';
import { inspectText } from '../../../src/cli/tree/print-inspect.ts';
import { selfCommand } from '../../../src/cli/self-command.ts';
import { treesOf } from '../../../src/cli/tree/tree.ts';
import { conditionTypes } from '../../../src/api/conditions.ts';
import { useCluster } from '../../support/cluster.ts';
import { aTarget, data, everythingInView, fails, go, itemsOf } from '../../support/dataflow.ts';
import { eventsOf } from '../../support/events.ts';
import { consumer, dataObject, fakeItem, mockItem, producer, root, target } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const plain = { isWide: false, hasDetails: false, hasNamespaces: false };

/** What `inspect` prints, without line breaks. */
async function inspected(scene: Scene, name: string): Promise<string> {
  await everythingInView(scene);
  const { world } = scene.cluster;
  const collected = {
    installations: scene.installations,
    executions: [...world.executions.list(scene.ns)],
    deployItems: [...world.deployItems.list(scene.ns)],
  };
  return inspectText(treesOf(collected, name), plain).replaceAll(/\s+/g, ' ');
}

const hint = (scene: Scene, name = 'shop'): string =>
  `no other job starts by itself, even when the cause is fixed; start one with: espalier installations reconcile ${name} -n ${scene.ns}, or annotate it with landscaper.gardener.cloud/operation=reconcile`;
const item = (target: object) => go(JSON.stringify({ deployItems: [{ ...mockItem('a'), target }] }), 'd');
const nodes = { name: 'nodes', targets: ['one', 'two', 'three'] };
const three = ['one', 'two', 'three'].map((name) => target(name));
const withNodes = (reference: object) => ({
  bp: { imports: [aTarget('nodes', 'targetList')], deployExecutions: [item(reference)] },
  spec: { imports: { targets: [nodes] } },
  objects: three,
});

describe('the message', () => {
  const here = useCluster();

  it('about a missing data import of a root names the closest data object, and how to start another job', async () => {
    const { scene, error } = await fails(here, {
      bp: { imports: [data('text')] },
      spec: { imports: { data: [{ name: 'text', dataRef: 'greting' }] } },
      objects: [dataObject('greeting', 'hi'), dataObject('other', 1)],
    });
    const message =
      'unable to fetch data object greting: dataobjects.landscaper.gardener.cloud "greting" not found (import "text"); did you mean "greeting"?';
    expect(error.reason).to.equal('ImportsSatisfied');
    expect(error.message).to.equal(`${message}\n${hint(scene)}`);
    expect(await eventsOf(scene, 'shop', 'ImportsNotSatisfied')).to.include(
      `Warning ImportsNotSatisfied: ${message}`,
    );
    expect(await inspected(scene, 'shop'))
      .to.contain('did you mean "greeting"?')
      .and.contain(hint(scene));
  });

  it('about a missing target of a root names the closest target', async () => {
    const { scene, error } = await fails(here, {
      bp: { imports: [aTarget('cluster')] },
      spec: { imports: { targets: [{ name: 'cluster', target: 'clutser' }] } },
      objects: [target('cluster')],
    });
    expect(error.message).to.equal(
      `targets.landscaper.gardener.cloud "clutser" not found (import "cluster"); did you mean "cluster"?\n${hint(scene)}`,
    );
  });

  const references: readonly (readonly [string, object, string])[] = [
    [
      'an index that is too large says how many targets the list has',
      { import: 'nodes', index: 7 },
      'index 7 out of bounds: the targetlist import "nodes" has 3 targets, from index 0 to 2',
    ],
    [
      'a list without an index says so',
      { import: 'nodes' },
      'target import "nodes" not found: it is a list of 3 targets; select one with "index"',
    ],
    [
      'a key of a list says so',
      { import: 'nodes', key: 'k' },
      'targetmap import "nodes" not found: it is a list of 3 targets; select one with "index"',
    ],
    [
      'a misspelt import names the right one',
      { import: 'noeds', index: 0 },
      'targetlist import "noeds" not found; did you mean "nodes"?',
    ],
  ];
  for (const [title, reference, why] of references)
    it(`about ${title}`, async () => {
      const { scene, error } = await fails(here, withNodes(reference));
      expect(error.message).to.equal(
        `Op: CreateImportsAndSubobjects - Reason: ReconcileExecution - Message: invalid deployitem specification "a": ${why}\n${hint(scene)}`,
      );
      expect(itemsOf(scene)).to.deep.equal([]);
    });

  it('about a missing key names the keys of the map', async () => {
    const { error } = await fails(here, {
      bp: {
        imports: [aTarget('nodes', 'targetMap')],
        deployExecutions: [item({ import: 'nodes', key: 'gren' })],
      },
      spec: { imports: { targets: [{ name: 'nodes', targetMap: { green: 'one', blue: 'two' } }] } },
      objects: three,
    });
    expect(error.message).to.contain(
      'key "gren" not found in targetmap import "nodes"; known keys are "blue", "green"',
    );
  });

  it('about the target of an item that does not exist names it and the way out, up to the root', async () => {
    const { scene, error } = await fails(here, { bp: { deployExecutions: [item({ name: 'nowhere' })] } });
    const message = `setting deploy item to failed due to missing target: target ${scene.ns}/nowhere does not exist; create it, or correct the reference to it, and start another job of the root installation`;
    const [one] = [...scene.cluster.world.deployItems.list(scene.ns)];
    expect(one?.status?.lastError?.message).to.equal(message);
    expect(await eventsOf(scene, one?.metadata.name ?? '', 'NoTargetFound')).to.include(
      `Warning NoTargetFound: ${message}`,
    );
    expect(error.message).to.contain(message).and.contain(hint(scene));
  });

  it('about a broken template shows the lines around, and no compressed input', async () => {
    const lines = ['deployItems:', '- name: a', `  type: {{ .imports.text.x.y }}`, `  config: {}`];
    const { error } = await fails(here, {
      bp: { imports: [data('text')], deployExecutions: [go(lines.join('\n'), 'd')] },
      files: { 'large.txt': 'abc '.repeat(500) },
      spec: { imports: { data: [{ name: 'text', dataRef: 'text' }] } },
      objects: [dataObject('text', 'hi')],
    });
    expect(error.message).to.contain('2:    - name: a\n3:      type: {{ .imports.text.x.y }}\n');
    expect(error.message).to.match(/\tblueprint: \[\.\.\.\] \(\d+ bytes, with the fields inline\)\n/);
    expect(error.message).to.not.contain('base64');
    expect(error.message).to.not.match(/[A-Za-z0-9+/=]{120}/);
  });

  it('about a blocked deletion names all installations that block it', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer());
    await scene.create({ ...consumer(), metadata: { ...consumer().metadata, name: 'reader' } });
    await scene.finished('consumer', 'Succeeded');
    await scene.finished('reader', 'Succeeded');
    await scene.delete('producer');
    const { status } = await scene.busy('producer', 'InitDelete', 'SiblingImport');
    expect(status?.lastError?.message).to.equal(
      'a sibling still imports some of the exports: consumer (delete it too), reader (delete it too), or annotate this installation with landscaper.gardener.cloud/delete-ignore-successors=true',
    );
  });

  it('about a root that is deleted while its job runs says at once that the deletion waits, and how to interrupt', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [fakeItem('app')] }));
    await scene.waiting('web', 'app');
    await scene.delete('web');
    await scene.until('the deletion is in view', () => scene.installation('web')?.metadata.deletionTimestamp);
    expect(await inspected(scene, 'web')).to.contain(
      `Waiting: the deletion starts when the running job ends; to end the job now: ${selfCommand()} installations interrupt web -n ${scene.ns}`,
    );
    await scene.answer('web', 'app');
    await scene.until('the deletion has started', () =>
      ['InitDelete', 'TriggerDelete', 'Deleting'].includes(scene.installation('web')?.status?.phase ?? ''),
    );
    expect(await inspected(scene, 'web')).to.not.contain('the deletion starts when');
  });

  it('about an unknown field of a configuration is a warning of the deploy item', async () => {
    const scene = await here.scene();
    const config = { exprot: { a: 1 } } as object;
    await scene.create(root('web', { items: [mockItem('app', config)] }));
    await scene.finished('web', 'Succeeded');
    await everythingInView(scene);
    const [one] = [...scene.cluster.world.deployItems.list(scene.ns)];
    const condition = one?.status?.conditions?.find(
      ({ type }) => type === conditionTypes.ValidateConfiguration,
    );
    expect(condition).to.include({
      status: 'False',
      reason: 'UnknownFields',
      message: 'in the configuration: exprot is not a known field; did you mean export?',
    });
    expect(await inspected(scene, 'web')).to.contain(
      'Warning: in the configuration: exprot is not a known field; did you mean export?',
    );
  });
});
