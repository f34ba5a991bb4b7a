/** The test kit with a kind of two versions: the user has one of them, and the operator works with the other. */
import { expect } from 'chai';
import {
  backups,
  backupsAlpha,
  conversion,
  crd,
  type Backup,
} from '../../../docs/samples/operators/backup/kind.ts';
import { conversionOf, type Conversion } from '../../../src/runtime/conversion/conversion.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import {
  simulate,
  startTestCluster,
  type OperatorUnderTest,
  type Scenario,
  type TestCluster,
} from '../../../src/testing/index.ts';

const KEY = 'default/nightly';

/** Writes the cron expression of each backup to a ConfigMap. */
const operator = (conversions: readonly Conversion[] = [conversion]): OperatorUnderTest => ({
  crds: [crd],
  conversions,
  add: (manager) =>
    manager.add<Backup>({
      name: 'backups',
      kind: backups,
      reconciler: {
        async reconcile({ metadata, spec }, ctx) {
          const { name, namespace = '', uid = '' } = metadata;
          const owner = { apiVersion: apiVersionOf(backups), kind: backups.kind, name, uid };
          await ctx.write({
            verb: 'apply',
            kind: ConfigMap,
            manager: 'backup-operator',
            force: true,
            object: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name, namespace, ownerReferences: [owner] },
              data: { cron: spec.schedule.cron },
            },
          });
          return { write: 'none' };
        },
      },
    }),
});

const create = <T extends Obj>(cluster: TestCluster, kind: Kind<T>, spec: object): Promise<T> =>
  cluster.client.send<T>({
    verb: 'create',
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: 'nightly', namespace: 'default' },
      spec,
    } as unknown as T,
  });
const cronOf = async (cluster: TestCluster) => (await cluster.get(ConfigMap, KEY))?.data?.['cron'];

describe('conversions in the test kit', function () {
  this.timeout(60_000);
  let cluster: TestCluster | undefined;
  afterEach(async () => {
    await cluster?.close();
    cluster = undefined;
  });

  it('are called for writes, reads and lists of other versions', async () => {
    cluster = await startTestCluster(operator());
    await create(cluster, backupsAlpha, { hour: 3, keep: 5 });
    const { spec } = (await cluster.get(backups, KEY)) as Backup;
    expect(spec).to.deep.equal({ schedule: { cron: '0 3 * * *' }, retention: { count: 5 } });
    await cluster.settle();
    expect(await cronOf(cluster)).to.equal('0 3 * * *');
    const hours: number[] = [];
    for await (const page of cluster.client.list(backupsAlpha, {}))
      for (const each of page.items) hours.push(each.spec.hour);
    expect(hours).to.deep.equal([3]);
  });

  it('also run in a simulation, with the same result whatever fails', async () => {
    const scenario = (): Scenario => ({
      ...operator(),
      without: { 'every write changes something': 'it applies its object after each restart' },
      async act(stage) {
        await create(stage, backupsAlpha, { hour: 3 });
        await stage.advance(stage.random.between(0, 5_000));
        await stage.client.send({ verb: 'merge', kind: backupsAlpha, key: KEY, body: { spec: { hour: 4 } } });
      },
      async check(stage) {
        expect(await cronOf(stage)).to.equal('0 4 * * *');
      },
    });
    expect(await simulate(scenario, { seeds: 20 })).to.be.greaterThan(500);
  });

  it('show what their functions throw, with the object', async () => {
    const broken = conversionOf(backups).spoke(backupsAlpha, {
      toHub: () => {
        throw new Error('the hour is missing');
      },
      fromHub: () => ({ spec: { hour: 1 } }),
    });
    cluster = await startTestCluster(operator([broken]));
    const error: unknown = await create(cluster, backupsAlpha, { hour: 3 }).catch((each: unknown) => each);
    expect(String(error)).to.contain(
      'cannot convert Backup default/nightly from backup.example.org/v1alpha1 to backup.example.org/v1: the hour is missing',
    );
  });

  it('are missed if the operator does not name them', async () => {
    cluster = await startTestCluster(operator([]));
    const error: unknown = await create(cluster, backupsAlpha, { hour: 3 }).catch((each: unknown) => each);
    expect(String(error)).to.contain(
      'there is no conversion at /convert/backups.backup.example.org; add it to "conversions"',
    );
  });

  it('need their definition, with functions for each served version', async () => {
    const failureOf = async (wrong: OperatorUnderTest): Promise<string> =>
      startTestCluster(wrong).then(
        () => 'started',
        (error: unknown) => String(error),
      );
    expect(await failureOf({ ...operator(), crds: [] })).to.contain(
      '`crds` has no backups.backup.example.org, which `conversions` converts',
    );
    expect(await failureOf(operator([conversionOf(backups)]))).to.contain(
      'the definition backups.backup.example.org serves v1alpha1, but the conversion has only v1',
    );
  });
});
