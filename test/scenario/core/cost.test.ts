/** The cost of a job: the requests of controllers and deployers together, counted in the audit log of the server. */
import { expect } from 'chai';
import { annotations } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  blueprint,
  child,
  consumer,
  fakeItem,
  mockItem,
  producer,
  root,
  stack,
  web,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';
import { skip } from '../../support/skip.ts';

describe('the cost of a job', () => {
  const here = useCluster();

  it('is 13 writes, one event and no read for an installation with one item', async function () {
    const { server } = here.cluster;
    if (!server) skip(this, 'the audit log of this server is not at hand; make bench counts there');
    const scene = await here.scene();
    const mark = server.audit.mark();
    // A wait that lasts for two seconds, as on a busy machine, would cost one write more.
    const release = here.cluster.clock.hold();
    try {
      await scene.create(root('web', { items: [mockItem('app')] }));
      await scene.finished('web', 'Succeeded');
    } finally {
      release();
    }
    await scene.calm();
    const ours = server.audit.since(mark).by({ userAgent: 'espalier', namespace: scene.ns });
    const written = ours.events.map(
      (e) => `${e.verb} ${e.objectRef?.resource ?? ''} ${e.objectRef?.subresource ?? ''}`,
    );
    expect(ours.reads, 'reads').to.equal(0);
    expect(ours.writes, written.join('\\n')).to.equal(14);
    expect(written.filter((write) => write.startsWith('create events'))).to.have.length(1);
    expect(server.audit.since(mark).by({ userAgent: 'espalier' }).reads, 'reads anywhere').to.equal(0);
    const aboutRecords = server.audit
      .all()
      .by({ userAgent: 'espalier' })
      .events.filter(({ objectRef }) => objectRef?.resource === 'jobrecords');
    expect(aboutRecords, 'requests about records of jobs, which are off by default').to.deep.equal([]);
    expect(scene.installation('web')?.metadata.annotations ?? {}).not.to.have.property(
      annotations.jobRequest,
    );
  });

  it('does not grow by a write to the execution for each of its items that ends', async function () {
    const { server } = here.cluster;
    if (!server) skip(this, 'the audit log of this server is not at hand; make bench counts there');
    const scene = await here.scene();
    const names = Array.from({ length: 40 }, (_, index) => `item-${String(index)}`);
    await scene.create(root('web', { items: names.map((name) => fakeItem(name)) }));
    await Promise.all(names.map((name) => scene.waiting('web', name)));
    await scene.calm();
    const mark = server.audit.mark();
    for (const name of names) await scene.answer('web', name);
    await scene.finished('web', 'Succeeded');
    const ours = server.audit.since(mark).by({ userAgent: 'espalier', namespace: scene.ns });
    const stored = ours.events.filter(({ objectRef: at }) => at?.resource === 'executions');
    expect(stored.length, 'writes to the execution').to.be.within(1, 15);
  });

  const worker = (name: string) => child(name, { items: [fakeItem('app')] });
  const waits: readonly [string, string, (scene: Scene) => Promise<unknown>][] = [
    [
      'Init',
      'consumer',
      async (scene) => {
        await scene.create(producer({ items: [fakeItem('app')] }));
        await scene.waiting('producer', 'app');
        await scene.create(consumer());
      },
    ],
    [
      'CleanupOrphaned',
      'stack',
      async (scene) => {
        await scene.create(stack({ children: [worker('a'), worker('b')] }));
        for (const name of ['a', 'b']) {
          const { metadata } = await scene.until(name, () => scene.child('stack', name));
          await scene.answer(metadata.name, 'app');
        }
        await scene.finished('stack', 'Succeeded');
        await scene.setBlueprint('stack', blueprint({ children: [worker('a')] }));
        await scene.operation('stack', 'reconcile');
      },
    ],
    [
      'InitDelete',
      'producer',
      async (scene) => {
        await scene.create(producer());
        await scene.finished('producer', 'Succeeded');
        await scene.create(consumer());
        await scene.finished('consumer', 'Succeeded');
        await scene.delete('producer');
      },
    ],
    [
      'Deleting',
      'web',
      async (scene) => {
        await scene.create(web());
        await scene.answer('web', 'app');
        await scene.finished('web', 'Succeeded');
        await scene.delete('web');
      },
    ],
  ];
  for (const [phase, name, begin] of waits) {
    it(`is nothing while an installation waits in ${phase}: no request and no event`, async function () {
      const { server } = here.cluster;
      if (!server) skip(this, 'the audit log of this server is not at hand; make bench counts there');
      const scene = await here.scene();
      const ours = { userAgent: 'espalier', namespace: scene.ns };
      const start = server.audit.mark();
      await begin(scene);
      await scene.busy(name, phase);
      await scene.calm();
      const mark = server.audit.mark();
      await scene.calm();
      const { events } = server.audit.since(mark).by(ours);
      expect(server.audit.since(start).by(ours).count, 'requests until it waits').to.be.above(0);
      expect(events.map((e) => `${e.verb} ${e.objectRef?.resource ?? ''}`)).to.deep.equal([]);
      expect(scene.installation(name)?.status?.phase).to.equal(phase);
    });
  }

  it('is nothing while an installation waits, and nothing after it has finished', async function () {
    const { server } = here.cluster;
    if (!server) skip(this, 'the audit log of this server is not at hand; make bench counts there');
    const scene = await here.scene();
    await scene.create(root('web', { items: [mockItem('app', { phase: 'Progressing' })] }));
    await scene.busy('web', 'Progressing');
    await scene.calm();
    const mark = server.audit.mark();
    await scene.calm();
    expect(server.audit.since(mark).by({ userAgent: 'espalier', namespace: scene.ns }).count).to.equal(0);
  });
});
