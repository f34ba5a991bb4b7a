import { expect } from 'chai';
import { startHealthCheck, type HealthPorts } from '../../../controllers/health/index.ts';
import { lsHealthCheckKind, type LsHealthCheck } from '../../../src/api/kinds/lshealthcheck.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { apiErrorFrom, TransportError } from '../../../src/runtime/errors.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { outcome } from '../../support/outcome.ts';
import { Server } from './support/stage.ts';

const MINUTE = 60_000;
const deploymentKind: Kind<Obj & { spec: object; status: object }> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

describe('the health check, once a minute', () => {
  let clock: FakeClock;
  let client: Server;
  let warnings: object[];
  const running: { stop(): Promise<void> }[] = [];
  beforeEach(() => {
    clock = new FakeClock('2026-01-01T00:00:00Z');
    client = new Server();
    warnings = [];
  });
  afterEach(() => Promise.all(running.splice(0).map((check) => check.stop())));

  const deployment = (name: string, available = 1, namespace = 'ls') =>
    client.put(deploymentKind, {
      metadata: { name, namespace, generation: 1 },
      spec: { replicas: 1 },
      status: { observedGeneration: 1, updatedReplicas: 1, availableReplicas: available },
    });
  const setAvailable = (name: string, availableReplicas: number) =>
    client.edit(deploymentKind, `ls/${name}`, { status: { availableReplicas } }, 'status');
  const check = (name: string, more: Partial<LsHealthCheck> = {}, namespace = 'ls') =>
    client.put(lsHealthCheckKind, {
      metadata: { name, namespace },
      description: 'ok',
      lastUpdateTime: '2025-01-01T00:00:00Z',
      status: 'Ok',
      ...more,
    });
  // The fake server supports a status only as a subresource, which this kind does not have.
  const written = (): object[] =>
    client.requests.filter(({ verb }) => verb === 'merge').map(({ body }) => body as object);

  async function start(more: Partial<HealthPorts> = {}, deployments = ['controller']) {
    const log = { ...silentLogger, warn: (fields: object) => warnings.push(fields) };
    const write: Client['send'] = (body, signal) => client.send(body, signal);
    const settings = { namespace: 'ls', name: 'landscaper', deployments };
    const checking = startHealthCheck({
      settings,
      client,
      write,
      clock,
      rng: seededRng(1),
      log: log,
      ...more,
    });
    running.push(checking);
    await settle();
    return checking;
  }
  const pass = (ms: number) => clock.advance(ms);

  it('starts with a check in Init', async () => {
    await start();
    const [created] = client.requests.filter(({ verb }) => verb === 'create');
    expect(created).to.deep.include({
      kind: 'LsHealthCheck',
      key: 'ls/landscaper',
      body: {
        apiVersion: API_VERSION,
        kind: 'LsHealthCheck',
        metadata: { name: 'landscaper', namespace: 'ls' },
        status: 'Init',
        description: 'ok',
        lastUpdateTime: '1970-01-01T00:00:00Z',
      },
    });
  });

  it('updates the time with every check, also if nothing else has changed', async () => {
    deployment('controller');
    check('landscaper');
    await start();
    expect(written()).to.deep.equal([{ lastUpdateTime: '2026-01-01T00:00:00Z' }]);
    await pass(MINUTE - 1);
    expect(written()).to.have.length(1);
    await pass(1);
    expect(written()[1]).to.deep.equal({ lastUpdateTime: '2026-01-01T00:01:00Z' });
    expect(client.writes).to.deep.equal(Array(2).fill('merge LsHealthCheck ls/landscaper'));
  });

  it('writes nothing if the status is the same', async () => {
    deployment('controller');
    check('landscaper', { lastUpdateTime: '2026-01-01T00:00:00Z' });
    await start();
    expect(client.writes).to.deep.equal([]);
  });

  it('reports a failure with the second check that fails, and its end with the next success', async () => {
    deployment('controller');
    deployment('webhook');
    check('landscaper', { status: 'Failed', description: 'old' });
    await start({}, ['controller', 'webhook']);
    setAvailable('webhook', 0);
    await pass(MINUTE);
    await pass(MINUTE);
    setAvailable('webhook', 1);
    await pass(MINUTE);
    expect(written().map((body) => (body as LsHealthCheck).description ?? 'nothing')).to.deep.equal([
      'ok',
      'nothing',
      'not all pods are running or at the latest state for deployment ls/webhook',
      'ok',
    ]);
  });

  it('reports a missing deployment by name', async () => {
    check('landscaper');
    await start();
    await pass(MINUTE);
    expect(written().at(-1)).to.include({ description: 'deployment ls/controller does not exist' });
  });

  it('deletes checks of other names in its namespace, once', async () => {
    deployment('controller');
    check('landscaper');
    check('former');
    check('former', {}, 'other');
    await start();
    const removed = () => client.writes.filter((write) => write.startsWith('delete'));
    expect(removed()).to.deep.equal(['delete LsHealthCheck ls/former']);
    check('later');
    await pass(MINUTE);
    expect(removed()).to.have.length(1);
  });

  it('ignores that another replica deletes them at the same time', async () => {
    check('former');
    client.before = ({ verb }) => {
      if (verb === 'delete') client.remove(lsHealthCheckKind, 'ls/former');
      return undefined;
    };
    await start();
    expect(client.writes).to.contain('create LsHealthCheck ls/landscaper');
    expect(warnings).to.deep.equal([]);
  });

  const unreadable: readonly [string, () => Error, string | undefined][] = [
    [
      'that is forbidden',
      () => apiErrorFrom(403, { message: 'not allowed' }, { verb: 'get', kind: 'Deployment' }),
      'not allowed',
    ],
    [
      'without a connection',
      () => new TransportError({ message: 'cannot reach it', safeToRepeat: true }),
      'cannot reach it',
    ],
    ['after a mistake of ours', () => new TypeError('no function'), undefined],
  ];
  for (const [title, error, why] of unreadable) {
    it(`${why === undefined ? 'ignores' : 'counts as a failure'} a check ${title}`, async () => {
      check('landscaper');
      client.fault = ({ kind }) => (kind === 'Deployment' ? error() : undefined);
      await start();
      await pass(MINUTE);
      const told = written().at(-1) as LsHealthCheck | undefined;
      if (why === undefined) expect(told).to.equal(undefined);
      else expect(told?.description).to.contain(`deployment ls/controller cannot be read: `).and.contain(why);
    });
  }

  it('retries after a growing pause if it cannot read or write its check, and logs it', async () => {
    deployment('controller');
    let isDown = true;
    const down = () => apiErrorFrom(503, { message: 'down' }, { verb: 'get', kind: 'LsHealthCheck' });
    client.fault = ({ kind }) => (isDown && kind === 'LsHealthCheck' ? down() : undefined);
    await start();
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.have.property('err').that.contains('down');
    await pass(5_000);
    expect(warnings.length).to.be.within(3, 5);
    isDown = false;
    await pass(20_000);
    expect(written()).to.have.length(1);
    const before = warnings.length;
    await pass(3 * MINUTE);
    expect(written()).to.have.length(4);
    expect(warnings).to.have.length(before);
  });

  it('deletes others again while that fails', async () => {
    check('former');
    let isDown = true;
    const down = () => apiErrorFrom(503, { message: 'down' }, { verb: 'delete', kind: 'LsHealthCheck' });
    client.fault = ({ verb }) => (isDown && verb === 'delete' ? down() : undefined);
    await start();
    expect(written()).to.deep.equal([]);
    isDown = false;
    await pass(1_000);
    expect(written()).to.have.length(1);
    expect(client.read(lsHealthCheckKind, 'ls/former')).to.equal(undefined);
  });

  it('is done by one replica, which is determined each time', async () => {
    deployment('controller');
    let isOurs = false;
    await start({ isOurs: () => isOurs });
    await pass(MINUTE);
    expect(client.requests).to.deep.equal([]);
    isOurs = true;
    await pass(MINUTE);
    expect(written()).to.have.length(1);
    isOurs = false;
    await pass(5 * MINUTE);
    expect(written()).to.have.length(1);
  });

  it('stops during a pause or a request', async () => {
    deployment('controller');
    const checking = await start();
    await checking.stop();
    expect(clock.pending).to.equal(0);
    const requests = client.requests.length;
    await pass(2 * MINUTE);
    expect(client.requests).to.have.length(requests);

    let letGo = (): void => undefined;
    client.before = () => new Promise<void>((resolve) => (letGo = resolve));
    const other = await start();
    const stopped = outcome(other.stop());
    letGo();
    expect(await stopped).not.to.throw();
    expect(warnings).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });
});
