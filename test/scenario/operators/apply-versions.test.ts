/** Server-side apply through several versions of a kind: managers own fields of the version that they have applied. */
import { expect } from 'chai';
import { backups, backupsAlpha, conversion, crd } from '../../../docs/samples/operators/backup/kind.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import { startOperator, type OperatorProcess } from '../../../src/runtime/operator/start-operator.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { startOperatorCluster, type AnyObj, type OperatorCluster } from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const V1 = apiVersionOf(backups);
const ALPHA = apiVersionOf(backupsAlpha);
const HOUR = { 'f:hour': {} };
const KEEP = { 'f:keep': {} };
const CRON = { 'f:schedule': { 'f:cron': {} } };
const COUNT = { 'f:retention': { 'f:count': {} } };

describe('server-side apply through several versions', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let operator: OperatorProcess;
  let namespace: string;
  let count = 0;
  let name: string;
  before(async () => {
    cluster = await startOperatorCluster();
    namespace = await cluster.namespace();
    await cluster.install(crd as unknown as AnyObj);
    operator = await startOperator({
      name: 'backup-operator',
      kubeconfig: cluster.kubeconfig,
      log: silentLogger,
      conversion: {
        conversions: [conversion],
        endpoint: { url: 'https://127.0.0.1:0' },
        listen: { host: '127.0.0.1', port: 0 },
        secret: { namespace },
      },
      add: () => undefined,
    });
    await operator.started;
  });
  beforeEach(() => {
    name = `backup-${String(++count)}`;
  });
  after(async () => {
    const { client } = cluster;
    const definition = crd.metadata.name;
    await client.send({ verb: 'delete', kind: CustomResourceDefinition, key: definition });
    // Other tests use the same definition.
    await eventually(
      'the definition is gone',
      async () => (await getIfThere(client, CustomResourceDefinition, definition)) === undefined,
    );
    await operator.stop();
    await cluster.stop();
  });

  const key = (): string => `${namespace}/${name}`;
  const apply = <T extends Obj>(kind: Kind<T>, manager: string, spec: object, force = false): Promise<T> =>
    cluster.client.send<T>({
      verb: 'apply',
      kind,
      manager,
      force,
      object: {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: { name, namespace },
        spec,
      } as unknown as T,
    });
  const refusal = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'accepted',
      (error: unknown) => String(error),
    );
  const spec = async () => (await cluster.client.get(backups, key())).spec;
  /** Manager → the version of its entry, and its fields in `spec`. */
  const owners = async (): Promise<Record<string, unknown>> => {
    const object = await cluster.client.get(backups, key());
    const managedFields = (object.metadata.managedFields ?? []) as readonly {
      readonly manager: string;
      readonly apiVersion: string;
      readonly fieldsV1: { readonly 'f:spec'?: object };
    }[];
    return Object.fromEntries(
      managedFields.map(({ manager, apiVersion, fieldsV1 }) => [manager, [apiVersion, fieldsV1['f:spec']]]),
    );
  };
  /** Fields without the entries for the containers themselves. */
  const bare = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (name, each: unknown) => (name === '.' ? undefined : each)));
  const expectOwners = async (expected: Record<string, unknown>): Promise<void> => {
    expect(bare(await owners())).to.deep.equal(expected);
  };

  it('conflicts with a manager of another version, and names the field in its version', async () => {
    await apply(backupsAlpha, 'a', { hour: 3, keep: 5 });
    const message = await refusal(apply(backups, 'b', { schedule: { cron: '0 4 * * *' } }));
    expect(message).to.contain('conflict with "a": .spec.hour');
    expect(await spec()).to.deep.equal({ schedule: { cron: '0 3 * * *' }, retention: { count: 5 } });
  });

  it('takes a field away from a manager of another version if it is forced', async () => {
    await apply(backupsAlpha, 'a', { hour: 3, keep: 5 });
    await apply(backups, 'b', { schedule: { cron: '0 4 * * *' } }, true);
    expect(await spec()).to.deep.equal({ schedule: { cron: '0 4 * * *' }, retention: { count: 5 } });
    await expectOwners({ a: [ALPHA, KEEP], b: [V1, CRON] });
  });

  it('shares a field if the value is the same in the other version', async () => {
    await apply(backupsAlpha, 'a', { hour: 3 });
    await apply(backups, 'b', { schedule: { cron: '0 3 * * *' }, retention: { count: 7 } });
    await expectOwners({ a: [ALPHA, HOUR], b: [V1, { ...CRON, ...COUNT }] });
  });

  it('removes what the same manager applied in another version and does not apply any more', async () => {
    await apply(backupsAlpha, 'a', { hour: 3, keep: 5 });
    await apply(backups, 'a', { schedule: { cron: '0 3 * * *' } });
    expect(await spec()).to.deep.equal({ schedule: { cron: '0 3 * * *' } });
    await expectOwners({ a: [V1, CRON] });
  });

  it('keeps what another manager owns in another version', async () => {
    await apply(backupsAlpha, 'a', { hour: 3, keep: 5 });
    await apply(backups, 'b', { schedule: { cron: '0 3 * * *' }, retention: { count: 5 } });
    await apply(backups, 'b', { schedule: { cron: '0 3 * * *' } });
    expect(await spec()).to.deep.equal({ schedule: { cron: '0 3 * * *' }, retention: { count: 5 } });
    await expectOwners({ a: [ALPHA, { ...HOUR, ...KEEP }], b: [V1, CRON] });
    await apply(backupsAlpha, 'a', { hour: 3 });
    expect(await spec()).to.deep.equal({ schedule: { cron: '0 3 * * *' } });
  });

  it('is followed by updates in another version', async () => {
    await apply(backupsAlpha, 'a', { hour: 3, keep: 5 });
    const body = { spec: { retention: { count: 6 } } };
    await cluster.client.send({ verb: 'merge', kind: backups, key: key(), body });
    await expectOwners({ a: [ALPHA, HOUR], espalier: [V1, COUNT] });
  });

  it('fails when an entry has a version that the kind does not have any more, and an update drops the entries', async () => {
    await apply(backupsAlpha, 'a', { hour: 3 });
    const { spec: definition } = await cluster.client.get(CustomResourceDefinition, crd.metadata.name);
    const versions = definition.versions.filter(({ name }) => name === 'v1');
    await cluster.client.send({
      verb: 'merge',
      kind: CustomResourceDefinition,
      key: crd.metadata.name,
      body: { spec: { versions } },
    });
    const outdated = `request to convert CR to an invalid group/version: ${ALPHA}`;
    await eventually('the version is gone', async () =>
      (await refusal(apply(backups, 'a', { schedule: { cron: '0 3 * * *' } }))).includes(outdated),
    );
    const body = { spec: { retention: { count: 6 } } };
    await cluster.client.send({ verb: 'merge', kind: backups, key: key(), body });
    await expectOwners({});
    await apply(backups, 'b', { schedule: { cron: '0 3 * * *' } });
  });
});
