/** Pods and logs in the console, for users with different rights, on an API server that checks them. */
import { expect } from 'chai';
import { targetReaderOf } from '../../../deployers/sdk/controller.ts';
import { GROUP } from '../../../src/api/labels.ts';
import type { LogLines, PodList } from '../../../src/cli/console/wire.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { secureRng } from '../../../src/lib/secure-rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { Deployment, Pod } from '../../../src/runtime/core-kinds.ts';
import type { Client } from '../../../src/runtime/types.ts';
import {
  LANDSCAPES,
  named,
  NAMESPACE,
  startRightsStage,
  type RightsStage,
} from '../../support/console-rights.ts';
import { collected, execution, installation, item } from '../../unit/cli/given.ts';
import { ask, consoleOf, cookieOf } from '../../unit/console/parts.ts';
import { eventually } from '../../support/waiting.ts';

const TARGETS = [{ apiGroups: [GROUP], resources: ['targets'], verbs: ['get'] }];
const PODS = [
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
];
const SECRETS = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['access'], verbs: ['get'] }];
const LOGS = [
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
];

const rules: Readonly<Record<string, readonly object[]>> = {
  operator: [LANDSCAPES, ...TARGETS, ...PODS, ...LOGS],
  owner: [LANDSCAPES, ...TARGETS, ...SECRETS],
  viewer: [LANDSCAPES, ...TARGETS, ...PODS],
  guest: [LANDSCAPES],
};
const landscape = (target: string) => {
  const one = item('i', {
    execution: 'web',
    template: 'server',
    phase: 'Succeeded',
    spec: { target: { name: target } },
  });
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: NAMESPACE, name: 'web', uid: 'u' };
  return collected(installation('web', { phase: 'Succeeded' }), execution('web', { phase: 'Succeeded' }), {
    ...one,
    status: { ...one.status, providerStatus: { managedResources: [{ resource }] } },
  });
};

const PART = encodeURIComponent(`DeployItem/${NAMESPACE}/i/apps/v1/Deployment/${NAMESPACE}/web`);
const podsUrl = `/api/landscapes/${NAMESPACE}/web/pods?part=${PART}`;
const logUrl = (pod: string): string =>
  `/api/landscapes/${NAMESPACE}/web/log?part=${PART}&pod=${pod}&container=server`;

describe('pods in the console, for users with different rights', function () {
  this.timeout(60_000);
  let stage: RightsStage;
  let pod = '';

  before(async () => {
    stage = await startRightsStage(rules, ['stranger']);
    const labels = { app: 'web' };
    await stage.create(Deployment, {
      ...named('apps/v1', 'Deployment', 'web'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'server', image: 'web:1' }] } },
      },
    });
    pod = await runningPod(stage.admin);
    stage.proxy.logs.set(`${pod}/server`, ['2026-01-01T00:00:01Z listening', '2026-01-01T00:00:02Z ready']);
  });
  after(() => stage?.close());

  const runningPod = (admin: Client): Promise<string> =>
    eventually('a pod runs', async () => {
      for await (const { items } of admin.list(Pod, { namespace: NAMESPACE }))
        for (const { metadata, status } of items) if (status?.phase === 'Running') return metadata.name;
      return undefined;
    });

  const inCluster = (user: string, target: string, isAllowed = false) =>
    stage.login(user, landscape(target), { targets: isAllowed });

  it('shows pods, events and logs to a user who may read them', async () => {
    const { get, close } = await inCluster('operator', 'self');
    const list = (await get(podsUrl)).json<PodList>();
    expect(list.pods.map(({ name, status, ready }) => [name, status, ready])).to.deep.equal([
      [pod, 'Running', '1/1'],
    ]);
    expect(list.eventsProblem).to.equal('');
    expect((await get(logUrl(pod))).json<LogLines>().lines).to.deep.equal(['listening', 'ready']);
    const next = await get(`${logUrl(pod)}&after=2026-01-01T00:00:01Z`);
    expect(next.json<LogLines>().lines).to.deep.equal(['ready']);
    await close();
  });

  it('shows pods without events and logs to a user who may only read pods', async () => {
    const { get, close } = await inCluster('viewer', 'self');
    const list = (await get(podsUrl)).json<PodList>();
    expect(list.pods).to.have.length(1);
    expect(list.eventsProblem).to.contain('events').and.contain('forbidden');
    const refused = await get(logUrl(pod));
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('pods/log').and.not.contain('listening');
    await close();
  });

  it('shows nothing of the target to users who may only list landscapes, or nothing', async () => {
    const guest = await inCluster('guest', 'self');
    for (const url of [podsUrl, logUrl(pod)]) {
      const refused = await guest.get(url);
      expect(refused.statusCode, url).to.equal(403);
      expect(refused.body).to.contain('targets').and.not.contain('listening');
    }
    await guest.close();
    const stranger = await inCluster('stranger', 'self');
    for (const url of [podsUrl, logUrl(pod)]) expect((await stranger.get(url)).statusCode, url).to.equal(404);
    await stranger.close();
  });

  it('uses no credentials of targets in the cluster unless that is allowed, whatever the user may read', async () => {
    const { get, close } = await inCluster('owner', 'other');
    const refused = await get(podsUrl);
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('uses no credentials of targets');
    await close();
  });

  it('uses them in the cluster if that is allowed, for users who may read them', async () => {
    const owner = await inCluster('owner', 'other', true);
    const { pods } = (await owner.get(podsUrl)).json<PodList>();
    expect(pods.map(({ name }) => name)).to.deep.equal([pod]);
    expect((await owner.get(logUrl(pod))).json<LogLines>().lines).to.deep.equal(['listening', 'ready']);
    await owner.close();
    for (const [user, missing] of [
      ['operator', 'secrets'],
      ['guest', 'targets'],
    ] as const) {
      const { get, close } = await inCluster(user, 'other', true);
      for (const url of [podsUrl, logUrl(pod)]) {
        const refused = await get(url);
        expect(refused.statusCode, `${user} ${url}`).not.to.equal(200);
        expect(refused.body).to.contain(missing).and.contain('forbidden').and.not.contain('listening');
      }
      await close();
    }
    const stranger = await inCluster('stranger', 'other', true);
    expect((await stranger.get(podsUrl)).statusCode).to.equal(404);
    await stranger.close();
  });

  it('does not use the rights of the credentials in a target that is the cluster itself', async () => {
    const { get, close } = await inCluster('owner', 'self', true);
    const refused = await get(podsUrl);
    expect(refused.statusCode).to.equal(403);
    expect(refused.body).to.contain('deployments');
    await close();
  });

  it('uses them on the machine of the user, who needs the right to read them', async () => {
    const as = async (kubeconfig: string) => {
      const client = await stage.clientWith(kubeconfig);
      const life = new AbortController();
      const targets = targetReaderOf({ client, clock, log, rng: secureRng, signal: life.signal });
      const { server, sessions } = consoleOf(landscape('other'), client, { targets });
      const cookie = cookieOf(sessions);
      const answers = [
        await ask(server, cookie, { url: podsUrl }),
        await ask(server, cookie, { url: logUrl(pod) }),
      ];
      life.abort(new Error('the test is over'));
      await server.close();
      await client.close();
      return answers;
    };
    const [pods, lines] = await as(stage.host.kubeconfig.replaceAll(stage.host.url, stage.proxy.url));
    expect(pods?.json<PodList>().pods.map(({ name }) => name)).to.deep.equal([pod]);
    expect(lines?.json<LogLines>().lines).to.deep.equal(['listening', 'ready']);
    const [refused] = await as(stage.host.client({ username: 'operator', groups: [] }).kubeconfig);
    expect(refused?.statusCode).not.to.equal(200);
    expect(refused?.body).to.contain('secrets').and.contain('forbidden');
  });
});
