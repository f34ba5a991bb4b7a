/** Runs of images with their pods in memory: when pods are created, kept and ended, and what is shown. */
import { expect } from 'chai';
import { POD_FINALIZER } from '../../../../deployers/container/contract.ts';
import { containerDeployer } from '../../../../deployers/container/index.ts';
import { labelsOf } from '../../../../deployers/container/names.ts';
import { podRunning, podSucceeded, terminated, waiting } from '../../../support/containers.ts';
import { Bench, containerConfig, LS } from '../bench.ts';
import type { Any } from '../fake-cluster.ts';
import { ITEM, NAMESPACE, podOf, settings } from './pods.ts';

describe('the run of an image', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench((client) => containerDeployer({ client, settings }));
    bench.giveItem(containerConfig({ image: 'example.org/tool:1' }), {
      type: `${LS}/container`,
      target: null,
      timeout: '10m',
    });
  });

  const pods = (): string[] => bench.host.names('Pod');
  const report = async (status: object): Promise<void> => {
    const [key = ''] = pods();
    bench.host.put({ ...bench.host.find('Pod', key), status } as Any);
    await bench.pass(30_000);
  };

  /** Fills with `pod deleted`, and with `name` whenever the status of the item contains `text`. */
  const orderOf = (name: string, text: string): string[] => {
    const order: string[] = [];
    const { onChange } = bench.host;
    bench.host.onChange = (kind, key, before, after) => {
      if (kind === 'Pod' && !after) order.push('pod deleted');
      if (kind === 'DeployItem' && JSON.stringify(after?.['status']).includes(text)) order.push(name);
      onChange(kind, key, before, after);
    };
    return order;
  };

  it('creates its pod last, after all that the pod needs', async () => {
    await bench.kick('j1');
    const created = bench.host.takeRequests().filter((request) => /^(create|apply) /.test(request));
    expect(created.at(-1)).to.match(/^create Pod proj\/web-/);
    expect(created.filter((request) => request.includes(' Pod '))).to.have.length(1);
  });

  it('ends with its pod, which is deleted after the result is stored', async () => {
    await bench.kick('j1');
    const order = orderOf('stored', 'lastSuccessfulJobID');
    await report(podSucceeded);
    expect(bench.status().phase).to.equal('Succeeded');
    expect(order.slice(0, 2)).to.deep.equal(['stored', 'pod deleted']);
    expect(pods()).to.deep.equal([]);
  });

  it('keeps its pod for debugging if the configuration says so', async () => {
    bench = new Bench((client) =>
      containerDeployer({ client, settings: { ...settings, keepsEndedPods: true } }),
    );
    bench.giveItem(containerConfig({ image: 'example.org/tool:1' }), {
      type: `${LS}/container`,
      target: null,
    });
    await bench.kick('j1');
    await report(podSucceeded);
    expect(bench.status().phase).to.equal('Succeeded');
    expect(pods()).to.have.length(1);
  });

  it('exports the secret of its wait container, and not that of another item or a user', async () => {
    const exported = (metadata: object, data: object): void => {
      bench.host.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'proj-web-export', namespace: NAMESPACE, ...metadata },
        data,
      });
    };
    const secretOf = () => bench.host.find('Secret', 'proj/web-export')?.['data'];
    const config = Buffer.from('{"a":1}').toString('base64');
    await bench.kick('j1');
    exported({ labels: labelsOf({ ...ITEM, name: 'api' }, 'd') }, { config });
    await report(podSucceeded);
    expect(secretOf()).to.equal(undefined);
    await bench.kick('j2');
    exported({ labels: { app: 'mine' } }, { config });
    await report(podSucceeded);
    expect(secretOf()).to.equal(undefined);
    bench.host.drop('Secret', 'proj/proj-web-export');
    await bench.kick('j3');
    exported({ labels: labelsOf(ITEM, 'd') }, { config });
    await report(podSucceeded);
    expect(secretOf()).to.deep.equal({ config });
  });

  it('is repeated in the same job after a change of the item', async () => {
    await bench.kick('j1');
    await report(podSucceeded);
    const finished = bench.status();
    bench.configure(containerConfig({ image: 'example.org/tool:2' }));
    bench.host.edit('DeployItem', 'proj/web', {
      status: { ...finished, jobIDFinished: '', phase: 'Progressing' },
    });
    await bench.rest();
    expect(pods()).to.have.length(1);
  });

  it('leaves no pod after its timeout', async () => {
    await bench.kick('j1');
    await report(podRunning);
    expect(pods()).to.have.length(1);
    const order = orderOf('failed', '"Failed"');
    await bench.pass(11 * 60_000);
    expect(order.slice(0, 2)).to.deep.equal(['pod deleted', 'failed']);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().lastError?.codes).to.include('ERR_TIMEOUT');
    expect(pods()).to.deep.equal([]);
  });

  it('keeps its pod if the process stops meanwhile, since the next process goes on with it', async () => {
    await bench.kick('j1');
    await report(podRunning);
    bench.host.fail = (verb, what) => {
      if (verb === 'get' && what.startsWith('Pod')) bench.shutdown.abort(new Error('the process stops'));
    };
    await bench.pass(30_000);
    expect(bench.shutdown.signal.aborted).to.equal(true);
    expect(pods()).to.have.length(1);
    expect(bench.host.find('Pod', pods()[0] ?? '')?.metadata).to.not.have.property('deletionTimestamp');
  });

  describe('that has failed', () => {
    const failed = { phase: 'Failed', containerStatuses: [terminated('main', 1)] };
    /** What happens to the pod, and when the failure is stored. */
    const observed = (): string[] => {
      const order: string[] = [];
      const { onChange } = bench.host;
      bench.host.onChange = (kind, key, before, after) => {
        if (kind === 'Pod' && !after) order.push('pod deleted');
        const status = JSON.stringify(after?.['status'] ?? {});
        if (kind === 'DeployItem' && /ErrImageNeverPull|"exitCode":1/.test(status)) order.push('stored');
        onChange(kind, key, before, after);
      };
      return order;
    };
    beforeEach(() => bench.kick('j1'));

    it('leaves its pod, which has ended, until the next job', async () => {
      await report(failed);
      expect(bench.status().phase).to.equal('Failed');
      expect(pods()).to.have.length(1);
    });

    it('ends a pod that would not end by itself, after its state is stored', async () => {
      const order = observed();
      await report({ phase: 'Pending', containerStatuses: [waiting('main', 'ErrImageNeverPull')] });
      expect(bench.status().phase).to.equal('Failed');
      expect(order.slice(0, 2)).to.deep.equal(['stored', 'pod deleted']);
      expect(pods()).to.deep.equal([]);
    });

    it('lets a pod go that is being deleted, so that its node can be drained', async () => {
      const order = observed();
      const [key = ''] = pods();
      bench.host.edit('Pod', key, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
      await report(failed);
      expect(order.slice(0, 2)).to.deep.equal(['stored', 'pod deleted']);
      expect(pods()).to.deep.equal([]);
    });
  });

  it('renews the tokens of its pod while it runs', async () => {
    const asked: number[] = [];
    const raw = bench.host.raw.bind(bench.host);
    bench.host.raw = async (method, path) => {
      const answer = (await raw(method, path)) as { status?: object };
      if (!path.endsWith('/token')) return answer;
      asked.push(bench.clock.now());
      const expirationTimestamp = new Date(bench.clock.wall() + 120_000).toISOString();
      return { status: { ...answer.status, expirationTimestamp } };
    };
    await bench.kick('j1');
    await report(podRunning);
    await bench.pass(30_000);
    expect(new Set(asked).size, 'still valid').to.equal(1);
    await bench.pass(30_000);
    expect(new Set(asked).size).to.equal(2);
  });

  it('of the next job starts when the pod of the job before has ended', async () => {
    await bench.kick('j1');
    await report({ phase: 'Failed', containerStatuses: [terminated('main', 1)] });
    expect(bench.status().phase).to.equal('Failed');
    const [first = ''] = pods();
    await bench.kick('j2');
    expect(pods()).to.have.length(1).and.not.include(first);
  });

  it('waits for a running pod of another run, and ends it', async () => {
    bench.host.put(
      podOf('web-old', { job: 'j0', metadata: { finalizers: [POD_FINALIZER, 'example.com/slow'] } }),
    );
    await bench.kick('j1');
    expect(bench.status().lastError?.message).to.contain('pod web-old of an earlier run has not ended yet');
    expect(pods()).to.deep.equal(['proj/web-old']);
    expect(bench.host.find('Pod', 'proj/web-old')?.metadata.deletionTimestamp).to.not.equal(undefined);
    bench.host.edit('Pod', 'proj/web-old', { metadata: { finalizers: null } });
    await bench.pass(5_000);
    expect(pods()).to.have.length(1).and.not.include('proj/web-old');
  });

  it('does not use a pod that a user created under its name', async () => {
    await bench.kick('j1');
    const [key = ''] = pods();
    bench.host.edit('Pod', key, { metadata: { labels: null } });
    await bench.pass(30_000);
    expect(bench.status().phase).to.equal('Failed');
    expect(pods()).to.deep.equal([key]);
  });

  it('is not repeated if its pod disappeared', async () => {
    await bench.kick('j1');
    await report(podRunning);
    bench.host.drop('Pod', pods()[0] ?? '');
    await bench.pass(30_000);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().lastError?.message).to.contain('disappeared before its result was observed');
    expect(pods()).to.deep.equal([]);
  });

  it('shows no secret of which the end of a long output has only a part', async () => {
    const bytes = 'A-secret-that-is-long-enough-to-be-cut'.repeat(4);
    bench.host.drop('DeployItem', 'proj/web');
    bench.giveItem(containerConfig({ image: 'example.org/tool:1', importValues: { password: bytes } }), {
      type: `${LS}/container`,
      target: null,
    });
    await bench.kick('j1');
    const message = `${'x'.repeat(500)}${bytes}${'y'.repeat(1024 - 60)}`;
    await report({ phase: 'Failed', containerStatuses: [terminated('main', 1, { message })] });
    const shown = JSON.stringify(bench.status());
    expect(shown).to.contain('y'.repeat(900));
    expect(shown).to.not.contain(bytes.slice(-10));
  });
});
