/** The notice operator of the documentation as processes: one leads, another stands by, and both report their state. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { notices, type Notice } from '../../../docs/samples/operators/notice/notices.ts';
import { noticeOperator } from '../../../docs/samples/operators/notice/options.ts';
import { startOperator, type OperatorProcess } from '../../../src/runtime/operator/start-operator.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { read, startOperatorCluster, type AnyObj, type OperatorCluster } from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const crd = join(import.meta.dirname, '../../../docs/samples/operators/notice/notices.yaml');

describe('the notice operator', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let namespace: string;
  let replicas: OperatorProcess[];
  let posted: string[];
  before(async () => {
    cluster = await startOperatorCluster();
    await cluster.install(parseYaml(readFileSync(crd, 'utf8')) as AnyObj);
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    replicas = [];
    posted = [];
  });
  afterEach(() => Promise.all(replicas.map((replica) => replica.stop())));
  after(() => cluster?.stop());

  const start = async (identity: string): Promise<OperatorProcess> => {
    const board = {
      post: async (_: string, text: string) => void posted.push(`${identity} + ${text}`),
      remove: async () => void posted.push(`${identity} -`),
    };
    const env = { NAMESPACE: namespace, HOSTNAME: identity, HEALTH_PORT: '0' };
    const { kubeconfig } = cluster;
    const replica = await startOperator({ ...noticeOperator(board, env), kubeconfig });
    replicas.push(replica);
    return replica;
  };
  const key = (): string => `${namespace}/hello`;
  const create = (): Promise<Notice> => {
    const metadata = { name: 'hello', namespace, labels: { audience: 'public' } };
    const object = { apiVersion: 'board.example.org/v1', kind: 'Notice', metadata, spec: { text: 'hello' } };
    return cluster.client.send({ verb: 'create', kind: notices, object });
  };
  const ask = async (replica: OperatorProcess, path: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${replica.health ?? ''}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const leads = async (replica: OperatorProcess): Promise<boolean> =>
    (await ask(replica, '/metrics')).text.includes('leader_election_master_status{name="notice-operator"} 1');

  it('RUN-119: works in one replica at a time, and in the next as soon as the first stops', async () => {
    const first = await start('first');
    await first.started;
    const second = await start('second');
    await create();
    await eventually('it is posted', () => posted.includes('first + hello'));
    await eventually(
      'the caches of the second are filled',
      async () => (await ask(second, '/readyz')).status === 200,
    );
    expect([await leads(first), await leads(second)]).to.deep.equal([true, false]);
    await first.stop();
    await second.started;
    expect(await leads(second)).to.equal(true);
    const body = { spec: { text: 'bye' } };
    await cluster.client.send({ verb: 'merge', kind: notices, key: key(), body });
    await eventually('it is posted by the second', () => posted.includes('second + bye'));
    expect(posted).to.not.include('first + bye');
    await cluster.client.send({ verb: 'delete', kind: notices, key: key() });
    await eventually('it is gone', async () => !(await read(cluster, notices, key())));
    expect(posted.at(-1)).to.equal('second -');
  });

  it('RUN-124, RUN-126: answers probes, and counts', async () => {
    const replica = await start('only');
    await replica.started;
    expect(await ask(replica, '/healthz')).to.deep.equal({ status: 200, text: 'ok' });
    expect((await ask(replica, '/readyz?verbose')).text).to.include('[+]sources ok');
    await create();
    await eventually('it is posted', () => posted.includes('only + hello'));
    // The reconcile continues after the notice is posted, and is counted when it has ended.
    for (const counted of [
      /^notices_posted_total [1-9]/m,
      /^controller_runtime_reconcile_total\{controller="notices",result="success"\} [1-9]/m,
    ])
      await eventually(counted.source, async () => counted.test((await ask(replica, '/metrics')).text));
  });
});
