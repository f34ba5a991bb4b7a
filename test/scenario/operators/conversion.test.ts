/** An operator that converts between the versions of its kind, on an API server. */
import { expect } from 'chai';
import {
  backups,
  backupsAlpha,
  conversion,
  crd,
  type Backup,
} from '../../../docs/samples/operators/backup/kind.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { CustomResourceDefinition, Secret } from '../../../src/runtime/core-kinds.ts';
import { startOperator, type OperatorProcess } from '../../../src/runtime/operator/start-operator.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { startOperatorCluster, type AnyObj, type OperatorCluster } from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const LIMIT = 60_000;

describe('an operator with a conversion', function () {
  this.timeout(LIMIT);
  let cluster: OperatorCluster;
  let client: Client;
  let operator: OperatorProcess | undefined;
  let namespace: string;
  /** The cron expressions that the controller has seen, by name. */
  let seen: Map<string, string>;

  const start = async (): Promise<void> => {
    operator = await startOperator({
      name: 'backup-operator',
      kubeconfig: cluster.kubeconfig,
      namespaces: [namespace],
      log: silentLogger,
      conversion: {
        conversions: [conversion],
        endpoint: { url: 'https://127.0.0.1:0' },
        listen: { host: '127.0.0.1', port: 0 },
        secret: { namespace },
      },
      add: (manager) =>
        manager.add<Backup>({
          name: 'backups',
          kind: backups,
          reconciler: {
            reconcile({ metadata, spec }) {
              seen.set(metadata.name, spec.schedule.cron);
              return Promise.resolve({ write: 'none' });
            },
          },
        }),
    });
    await operator.started;
  };
  before(async () => {
    cluster = await startOperatorCluster();
    ({ client } = cluster);
    namespace = await cluster.namespace();
    seen = new Map();
    await cluster.install(crd as unknown as AnyObj);
    await start();
  });
  after(async () => {
    await operator?.stop();
    await client.send({ verb: 'delete', kind: CustomResourceDefinition, key: crd.metadata.name });
    await cluster.stop();
  });

  const create = <T extends Obj>(kind: Kind<T>, name: string, spec: object): Promise<T> =>
    client.send<T>({
      verb: 'create',
      kind,
      object: {
        apiVersion: `${kind.group}/${kind.version}`,
        kind: kind.kind,
        metadata: { namespace, name },
        spec,
      } as unknown as T,
    });
  const get = <T extends Obj>(kind: Kind<T>, name: string) => client.get(kind, `${namespace}/${name}`);
  const patch = <T extends Obj>(kind: Kind<T>, name: string, body: object) =>
    client.send<T>({ verb: 'merge', kind, key: `${namespace}/${name}`, body });

  it('writes its address and authority into the definition', async () => {
    const { spec } = (await client.get(CustomResourceDefinition, crd.metadata.name)) as unknown as {
      spec: { conversion: { webhook: { clientConfig: Record<string, string> } } };
    };
    const { url, caBundle, ...rest } = spec.conversion.webhook.clientConfig;
    expect(url).to.match(/^https:\/\/127\.0\.0\.1:\d+\/convert\/backups\.backup\.example\.org$/);
    const certificates = await client.get(Secret, `${namespace}/backup-operator-webhook-certs`);
    expect([caBundle, rest]).to.deep.equal([certificates.data?.['ca.crt'], {}]);
  });

  it('receives objects of other versions in its own', async () => {
    const created = await create(backupsAlpha, 'alpha', { hour: 3, keep: 5 });
    expect(created.spec).to.deep.equal({ hour: 3, keep: 5 });
    await eventually('the controller has seen it', () => seen.get('alpha'));
    expect(seen.get('alpha')).to.equal('0 3 * * *');
    const stored = await get(backups, 'alpha');
    expect(stored.spec).to.deep.equal({ schedule: { cron: '0 3 * * *' }, retention: { count: 5 } });
    expect(stored.metadata.uid).to.equal(created.metadata.uid);
  });

  it('shows its objects in other versions, without losing anything', async () => {
    const spec = { schedule: { cron: '*/5 7 * * 1' } };
    await create(backups, 'hub', spec);
    expect((await get(backupsAlpha, 'hub')).spec).to.deep.equal({ hour: 7 });
    const changed = await patch(backupsAlpha, 'hub', { spec: { keep: 2 } });
    expect(changed.spec).to.deep.equal({ hour: 7, keep: 2 });
    expect((await get(backups, 'hub')).spec).to.deep.equal({ ...spec, retention: { count: 2 } });
    await patch(backupsAlpha, 'hub', { spec: { hour: 8 } });
    await eventually('the controller has seen the change', () => seen.get('hub') === '0 8 * * *');
  });

  it('is asked once for all objects of a list, and for those of a watch in their order', async () => {
    for (const [i, cron] of ['0 1 * * *', '0 2 * * *', '0 3 * * *'].entries())
      await create(backups, `list-${String(i)}`, { schedule: { cron } });
    const hours: Record<string, number> = {};
    let version = '';
    for await (const page of client.list(backupsAlpha, { namespace })) {
      for (const { metadata, spec } of page.items) hours[metadata.name] = spec.hour;
      version = page.resourceVersion;
    }
    expect(hours).to.include({ 'list-0': 1, 'list-1': 2, 'list-2': 3 });
    const stop = new AbortController();
    const events: string[] = [];
    const watching = (async () => {
      const query = { namespace, resourceVersion: version };
      for await (const frame of client.watch(backupsAlpha, query, stop.signal)) {
        if (!('object' in frame)) continue;
        const { metadata, spec } = frame.object;
        events.push(`${frame.type} ${metadata.name} ${String(spec.hour)}`);
        if (events.length === 4) return;
      }
    })();
    await patch(backups, 'list-0', { spec: { schedule: { cron: '0 11 * * *' } } });
    await create(backups, 'list-3', { schedule: { cron: '0 4 * * *' } });
    await patch(backups, 'list-3', { spec: { schedule: { cron: '0 5 * * *' } } });
    await client.send({ verb: 'delete', kind: backupsAlpha, key: `${namespace}/list-3` });
    await watching;
    stop.abort(new Error('enough'));
    expect(events).to.deep.equal([
      'MODIFIED list-0 11',
      'ADDED list-3 4',
      'MODIFIED list-3 5',
      'DELETED list-3 5',
    ]);
  });

  it('validates objects in the version of the request', async () => {
    const error: unknown = await create(backupsAlpha, 'invalid', { hour: 99 }).catch((each: unknown) => each);
    expect(String(error)).to.include('spec.hour');
  });

  it('leaves other versions unreadable while it is stopped, and its own readable', async () => {
    await operator?.stop();
    operator = undefined;
    expect((await get(backups, 'alpha')).spec.schedule.cron).to.equal('0 3 * * *');
    await patch(backups, 'alpha', { spec: { schedule: { cron: '0 9 * * *' } } });
    const error: unknown = await get(backupsAlpha, 'alpha').catch((each: unknown) => each);
    expect(String(error)).to.include(
      'conversion webhook for backup.example.org/v1, Kind=Backup failed: Post',
    );
    await start();
    expect((await get(backupsAlpha, 'alpha')).spec.hour).to.equal(9);
  });
});
