/** The team operator of the documentation: many objects of one kind, and a comparison of its own. */
import { expect } from 'chai';
import { addTeams, teams, type Team } from '../../../docs/samples/operators/team/teams.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import {
  crdOf,
  read,
  startOperatorCluster,
  startProcess,
  type OperatorCluster,
  type OperatorProcess,
} from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

describe('the team operator', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let operator: OperatorProcess;
  let namespace: string;
  before(async () => {
    cluster = await startOperatorCluster();
    await cluster.install(crdOf(teams));
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    operator = await startProcess(cluster, (manager) => void addTeams(manager));
    const object = {
      apiVersion: 'people.example.org/v1',
      kind: 'Team',
      metadata: { name: 't', namespace },
      spec: { members: ['ann', 'bob'] },
    };
    await cluster.client.send<Team>({ verb: 'create', kind: teams, object });
    await told(2);
  });
  afterEach(async () => {
    await cluster.client
      .send({ verb: 'merge', kind: teams, key: key(), body: NOTHING })
      .catch(() => undefined);
    await operator.stop();
  });
  after(() => cluster?.stop());

  const NOTHING = { spec: { members: [] } };
  const key = (): string => `${namespace}/t`;
  const desk = (member: string): Promise<ConfigMap | undefined> =>
    read(cluster, ConfigMap, `${namespace}/t-${member}`);
  const told = (count: number) =>
    eventually(`the team has ${String(count)} desks`, async () => {
      return (await read(cluster, teams, key()))?.status?.desks === count;
    });
  const hire = (...members: string[]) =>
    cluster.client.send({ verb: 'merge', kind: teams, key: key(), body: { spec: { members } } });
  const edit = (member: string, body: object) =>
    cluster.client.send({ verb: 'merge', kind: ConfigMap, key: `${namespace}/t-${member}`, body });

  it('RUN-64: creates one object per member, and first deletes those that are no longer wanted', async () => {
    const before = operator.client.writes.length;
    const { uid } = (await desk('bob'))?.metadata ?? {};
    await hire('bob', 'cleo', 'dan');
    await told(3);
    const writes = operator.client.writes.slice(before);
    expect(writes[0]).to.equal('delete ConfigMap t-ann');
    expect(writes.filter((write) => write.startsWith('apply')).sort()).to.deep.equal([
      'apply ConfigMap t-cleo',
      'apply ConfigMap t-dan',
    ]);
    expect((await desk('bob'))?.metadata.uid).to.equal(uid);
    expect(await desk('ann')).to.equal(undefined);
  });

  it('RUN-59: ignores changes that a member makes to the note', async () => {
    await edit('ann', { data: { note: 'mine' } });
    await edit('bob', { metadata: { labels: { 'app.kubernetes.io/managed-by': 'team-operator', x: 'y' } } });
    await hire('ann', 'bob', 'cleo');
    await told(3);
    expect((await desk('ann'))?.data?.note).to.equal('mine');
    expect(
      operator.client.writes.filter((write) => /apply ConfigMap t-(ann|bob)/.test(write)),
    ).to.have.length(2);
  });

  it('RUN-93: releases the team after its last desk was deleted', async () => {
    await edit('ann', { metadata: { finalizers: ['people.example.org/tidying'] } });
    await cluster.client.send({ verb: 'delete', kind: teams, key: key() });
    await eventually('bob has left', async () => !(await desk('bob')));
    expect((await read(cluster, teams, key()))?.metadata.finalizers).to.have.length(1);
    await edit('ann', { metadata: { finalizers: null } });
    await eventually('the team is gone', async () => !(await read(cluster, teams, key())));
    expect(await desk('ann')).to.equal(undefined);
  });
});
