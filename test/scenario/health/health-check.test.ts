import { expect } from 'chai';
import { startHealthCheck } from '../../../controllers/health/index.ts';
import { lsHealthCheckKind, type LsHealthCheck } from '../../../src/api/kinds/lshealthcheck.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { useCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/waiting.ts';

const deploymentKind: Kind<Obj & { spec: { replicas: number } }> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

describe('the health check', () => {
  const use = useCluster({ controllers: [], deployers: [] });
  const checks: { stop(): Promise<void> }[] = [];
  afterEach(() => Promise.all(checks.splice(0).map((check) => check.stop())));

  async function given(deployments: readonly string[]) {
    const { ns } = await use.scene();
    const { client } = use.cluster;
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    for (const name of deployments)
      await client.send({ verb: 'create', kind: deploymentKind, object: deployment(ns, name) });
    const start = (): void => {
      const settings = { namespace: ns, name: 'landscaper', deployments };
      const write: Client['send'] = (body, signal) => client.send(body, signal);
      checks.push(startHealthCheck({ settings, client, write, clock, rng: seededRng(1), log: silentLogger }));
    };
    const find = (): Promise<LsHealthCheck | undefined> =>
      client.get(lsHealthCheckKind, `${ns}/landscaper`).catch(() => undefined);
    /** The check as it is after this many minutes. */
    const after = async (minutes: number): Promise<LsHealthCheck> => {
      while (clock.now() < minutes * 60_000) {
        await eventually('the next check is due', () => clock.pending > 0);
        await clock.advance(60_000);
      }
      const time = new Date(clock.wall()).toISOString().replace('.000', '');
      let last: LsHealthCheck | undefined;
      const why = (): string => `; it is ${JSON.stringify(last)}`;
      return eventually(
        `the check of ${time} is stored`,
        async () => {
          last = await find();
          return last?.lastUpdateTime === time && last;
        },
        { why },
      );
    };
    const ready = (name: string, available: number): Promise<unknown> =>
      client.send({
        verb: 'merge',
        kind: deploymentKind,
        key: `${ns}/${name}`,
        sub: 'status',
        body: {
          status: {
            observedGeneration: 1,
            replicas: 1,
            updatedReplicas: 1,
            readyReplicas: available,
            availableReplicas: available,
          },
        },
      });
    return { ns, client, start, after, ready };
  }

  it('CORE-115: reports a failure only if the check before failed too', async () => {
    const { start, after, ready } = await given(['controller', 'webhook']);
    await ready('controller', 1);
    await ready('webhook', 1);
    start();
    expect(await after(0)).to.include({ status: 'Ok', description: 'ok' });
    await ready('webhook', 0);
    expect((await after(1)).status).to.equal('Ok');
    const failed = await after(2);
    expect(failed.status).to.equal('Failed');
    expect(failed.description).to.match(/^not all pods .* for deployment \S+\/webhook$/);
    await ready('webhook', 1);
    expect((await after(3)).status).to.equal('Ok');
  });

  it('starts with Init and replaces checks of other names', async () => {
    const { ns, client, start, after } = await given(['controller']);
    const metadata = { name: 'former', namespace: ns };
    const kind = lsHealthCheckKind.kind;
    const object = {
      apiVersion: API_VERSION,
      kind,
      metadata,
      status: 'Ok',
      description: 'ok',
      lastUpdateTime: '2025-01-01T00:00:00Z',
    };
    await client.send({ verb: 'create', kind: lsHealthCheckKind, object });
    start();
    expect((await after(0)).status).to.equal('Init');
    const names: string[] = [];
    for await (const page of client.list(lsHealthCheckKind, { namespace: ns })) {
      names.push(...page.items.map((item) => item.metadata.name));
    }
    expect(names).to.deep.equal(['landscaper']);
    expect((await after(1)).status).to.equal('Failed');
  });
});

const deployment = (namespace: string, name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example.org/main:1' }] },
    },
  },
});
