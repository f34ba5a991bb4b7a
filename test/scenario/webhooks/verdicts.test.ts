/**
 * An invalid object is rejected twice, with the same message: by the webhook, and, if no webhook was asked, by the
 * controller or deployer that would have to process it.
 */
import { expect } from 'chai';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { labels } from '../../../src/api/labels.ts';
import type { ValidatedResource } from '../../../src/api/validation/index.ts';
import { isFinished } from '../../../src/api/job.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { Forbidden, Invalid } from '../../../src/runtime/errors.ts';
import type { Webhooks } from '../../../src/webhooks/index.ts';
import { broken, target, type Broken } from '../../support/broken.ts';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, lonelyItem, mockItem, plan, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { freePort } from '../../support/ports.ts';
import { forgetWebhooks, objection, serveWebhooks } from '../../support/webhooks.ts';
import { eventually } from '../../support/waiting.ts';

const inside = (scene: Scene, object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, namespace: scene.ns },
});

describe('with the webhooks, the API server', () => {
  // Before the cluster is stopped.
  after(async () => {
    await forgetWebhooks(here.cluster.client);
    await webhooks.close();
  });
  const here = useCluster({ controllers: [], deployers: [] });
  let webhooks: Webhooks;
  let scene: Scene;

  before(async () => {
    scene = await here.scene();
    const { client } = here.cluster;
    webhooks = await serveWebhooks({ client, namespace: scene.ns, port: await freePort() });
    await eventually('the webhooks are asked', () =>
      refusal('targets', target('x', { config: 1, secretRef: { name: 's' } })),
    );
  });
  const refusal = (resource: ValidatedResource, object: Obj) =>
    objection(here.cluster.client, resource, inside(scene, object));

  for (const { title, resource, object, sentence, isUnreadable } of broken) {
    it(`rejects ${title}`, async () => {
      const error = await refusal(resource, object);
      const denial = `admission webhook "${resource}.validation.landscaper.gardener.cloud" denied the request: ${sentence}`;
      expect(error?.message).to.contain(denial);
      expect(error).to.be.instanceOf(isUnreadable ? Invalid : Forbidden);
      expect(error?.status).to.equal(isUnreadable ? 400 : 403);
    });
  }

  it('CORE-118: rejects a cycle, an empty target name, another type, and a target with two contents', async () => {
    const cycle = [fakeItem('a', { dependsOn: ['b'] }), fakeItem('b', { dependsOn: ['a'] })];
    const by = async (resource: ValidatedResource, object: Obj) => (await refusal(resource, object))?.message;
    expect(await by('executions', plan(cycle)))
      .to.contain('executions.validation')
      .and.contain('cycle');
    const nameless = lonelyItem({ target: { name: '', namespace: scene.ns } });
    expect(await by('deployitems', nameless))
      .to.contain('deployitems.validation')
      .and.contain('target name');
    const both = target('both', { config: 1, secretRef: { name: 's' } });
    expect(await by('targets', both))
      .to.contain('targets.validation')
      .and.contain('not both');

    await scene.create(lonelyItem());
    const change = scene.patch(deployItemKind, 'lonely', { spec: { type: 'test.example/other' } });
    const error = await change.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    // A server that evaluates the rules of schemas rejects before it asks the webhook, in the same words.
    expect(String(error)).to.contain('spec.type: Forbidden: type is immutable');
  });

  it('CORE-119: rejects a name of 59 characters, and accepts one of 58', async () => {
    expect((await refusal('installations', root('n'.repeat(59))))?.message).to.contain(
      'no more than 58 characters',
    );
    expect(await refusal('installations', root('n'.repeat(58)))).to.equal(undefined);
  });

  it('CORE-120: accepts an invalid execution if a label disables the validation', async () => {
    const cyclic = plan([fakeItem('a', { dependsOn: ['a'] })]);
    expect(await refusal('executions', cyclic)).to.be.instanceOf(Forbidden);
    const spared = { ...cyclic, metadata: { name: 'spared', labels: { [labels.skipValidation]: 'true' } } };
    expect(await refusal('executions', spared)).to.equal(undefined);
    const notSpared = { ...cyclic, metadata: { name: 'not', labels: { [labels.skipValidation]: 'yes' } } };
    expect(await refusal('executions', notSpared)).to.be.instanceOf(Forbidden);
  });

  it('allows the deletion of an object that became invalid before there was a webhook', async () => {
    const wrong = plan([fakeItem('a', { dependsOn: ['a'] })]);
    const metadata = {
      name: 'old',
      finalizers: ['test.example/keep'],
      labels: { [labels.skipValidation]: 'true' },
    };
    await scene.create({ ...wrong, metadata });
    await scene.remove(executionKind, 'old');
    await scene.patch(executionKind, 'old', { metadata: { labels: null } });
    await scene.patch(executionKind, 'old', { metadata: { finalizers: null } });
    await scene.gone(executionKind, 'old');
  });
});

describe('without webhooks, a job', () => {
  const here = useCluster({ controllers: ['installation', 'execution', 'deployitem'], deployers: ['mock'] });

  interface Ended {
    readonly status?: View<Execution>['status'] | View<Installation>['status'];
  }
  /** Starts a job and returns its end. */
  const start: Readonly<Record<ValidatedResource, (scene: Scene, object: Obj) => Promise<Ended>>> = {
    async installations(scene, object) {
      await scene.create(object);
      return scene.finished(object.metadata.name);
    },
    async executions(scene, object) {
      await scene.create(object);
      await scene.patchStatus(executionKind, 'plan', { jobID: 'j1', observedGeneration: 0 });
      return ended(scene, () => scene.execution('plan'));
    },
    async deployitems(scene, object) {
      await scene.create(object);
      return itemEnded(scene);
    },
    async targets(scene, object) {
      await scene.create(object);
      const { type, config } = mockItem('x');
      const reference = { name: object.metadata.name, namespace: scene.ns };
      await scene.create(lonelyItem({ type, config, target: reference }));
      return itemEnded(scene);
    },
  };
  const ended = (scene: Scene, look: () => View<Execution> | View<DeployItem> | undefined): Promise<Ended> =>
    scene.until('the job has ended', () => {
      const found = look();
      return found?.status?.jobID === 'j1' && isFinished(found) && found;
    });
  const itemEnded = async (scene: Scene): Promise<Ended> => {
    await scene.patchStatus(deployItemKind, 'lonely', { jobID: 'j1', observedGeneration: 0 });
    return ended(scene, () => here.cluster.world.deployItems.get(`${scene.ns}/lonely`));
  };

  const refused = ({ isWorkable }: Broken): boolean => !isWorkable;
  for (const { title, resource, object, sentence } of broken.filter(refused)) {
    it(`rejects ${title} with the same message as the webhook`, async () => {
      const { status } = await start[resource](await here.scene(), object);
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.message).to.contain(sentence);
    });
  }
});
