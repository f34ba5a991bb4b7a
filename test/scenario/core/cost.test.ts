/** What a job costs: requests of controllers and deployers together, as the server's audit log has them. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import { mockItem, root } from '../../support/landscape.ts';
import { skip } from '../../support/skip.ts';

describe('the cost of a job', () => {
  const here = useCluster();

  it('is at most 16 writes and no read for an installation with one item', async function () {
    const { server } = here.cluster;
    if (!server) skip(this, 'the audit log of this server is not at hand; make bench counts there');
    const scene = await here.scene();
    const mark = server.audit.mark();
    await scene.create(root('web', { items: [mockItem('app')] }));
    await scene.finished('web', 'Succeeded');
    await scene.calm();
    const ours = server.audit.since(mark).by({ userAgent: 'espalier', namespace: scene.ns });
    const written = ours.events.map(
      (e) => `${e.verb} ${e.objectRef?.resource ?? ''} ${e.objectRef?.subresource ?? ''}`,
    );
    expect(ours.reads, 'reads').to.equal(0);
    expect(ours.writes, written.join('\\n')).to.be.at.most(16);
    expect(server.audit.since(mark).by({ userAgent: 'espalier' }).reads, 'reads anywhere').to.equal(0);
  });

  it('is nothing while an installation waits, and nothing when it is finished', async function () {
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
