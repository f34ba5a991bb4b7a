/** The operator of the documentation, on an API server and with a service in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { bucketController, bucketKind, type Bucket } from '../../../docs/samples/operators/bucket/bucket.ts';
import { bucketCrd } from '../../../docs/samples/operators/bucket/crd.ts';
import { startBucketService, type BucketService } from '../../../docs/samples/operators/bucket/service.ts';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { systemRng as rng } from '../../../src/lib/rng.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { AlreadyExists } from '../../../src/runtime/errors.ts';
import { isActive } from '../../../src/runtime/external/index.ts';
import { Secret } from '../../../src/runtime/core-kinds.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { createManager, type StartableManager } from '../../../src/runtime/manager/manager.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { eventually } from '../../support/waiting.ts';

const external = process.env['ESPALIER_TEST_KUBECONFIG'];
const cluster = (group: string, kind: string, plural: string): Kind => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: false,
});
const namespaces = cluster('', 'Namespace', 'namespaces');
const crds = cluster('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions');

describe('the bucket operator of the documentation', function () {
  this.timeout(60_000);
  const namespace = `buckets-${randomBytes(4).toString('hex')}`;
  const key = `${namespace}/photos`;
  let server: ApiServer | undefined;
  let client: Client;
  let manager: StartableManager;
  let service: BucketService;

  const read = () => getIfThere(client, bucketKind, key);
  const until = <T>(what: string, ask: () => Promise<T>) =>
    eventually(what, ask, { why: async () => `; the bucket is ${JSON.stringify(await read())}` });
  const ready = (quotaGiB: number) =>
    until(`a ready bucket of ${String(quotaGiB)} GiB`, async () => {
      const bucket = await read();
      const isIt = bucket?.status?.attributes?.['quotaGiB'] === quotaGiB;
      return isIt && isActive(bucket, 'Ready') && !isActive(bucket, 'Updating') && bucket;
    });

  before(async () => {
    server = external ? undefined : await startApiServer({ listen: { tls: false } });
    const text = server?.kubeconfig ?? readFileSync(external ?? '', 'utf8');
    client = createClient(await connect({ kubeconfig: { text }, userAgent: 'operator-test', clock, log }));
    for (const [kind, object] of [
      [crds, bucketCrd as Obj],
      [namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }],
    ] as const) {
      await client.send({ verb: 'create', kind, object }).catch((error: unknown) => {
        if (!(error instanceof AlreadyExists)) throw error;
      });
    }
    await until('the kind', async () => {
      const crd = (await getIfThere(client, crds, bucketCrd.metadata.name)) as
        (Obj & { status?: { conditions?: { type: string; status: string }[] } }) | undefined;
      return crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
    });
    service = await startBucketService();
    const caches = createCaches({ client, clock, rng, log });
    const metrics = createMetrics();
    manager = createManager({ client, caches, clock, rng, log, metrics, identity: 'test' });
    manager.add(bucketController(service, { client, caches, clock, rng }));
    await manager.start();
  });
  after(async () => {
    await manager?.stop();
    service?.stop();
    await client?.close();
    await server?.close();
  });

  it('creates a bucket, fills in missing fields, and publishes how to reach it', async () => {
    const file = join(import.meta.dirname, '../../../docs/samples/operators/bucket/bucket.yaml');
    const object = parseYaml(readFileSync(file, 'utf8')) as Bucket;
    object.metadata.namespace = namespace;
    await client.send({ verb: 'create', kind: bucketKind, object });
    const bucket = await ready(5);
    const name = `bucket-${bucket.metadata.uid ?? ''}`;
    expect([...service.buckets.keys()]).to.deep.equal([name]);
    expect(service.changes).to.deep.equal([`PUT ${name}`]);
    expect(bucket.spec.region).to.equal('eu-1');
    expect(bucket.status).to.deep.include({ id: name, state: 'ready', observedGeneration: 2 });
    const secret = await until('the secret', () => getIfThere(client, Secret, `${namespace}/photos-access`));
    expect(Buffer.from(secret.data?.['secretKey'] ?? '', 'base64').toString()).to.equal('hush-hush');
    expect(JSON.stringify(bucket)).to.not.include('hush-hush');
  });

  it('changes it when the object changes, also after the service failed', async () => {
    service.changes.length = 0;
    service.faults.push(503);
    const body = { spec: { quotaGiB: 9 } };
    await client.send({ verb: 'merge', kind: bucketKind, key, body });
    const bucket = await ready(9);
    expect([...service.buckets.values()][0]?.quotaGiB).to.equal(9);
    expect(service.changes.length).to.be.within(2, 3);
    expect(isActive(bucket, 'Failed')).to.equal(false);
  });

  it('repairs a change in the service as soon as it reconciles', async () => {
    const remote = [...service.buckets.values()][0];
    if (remote) remote.quotaGiB = 1;
    const body = { metadata: { annotations: { 'external.espalier.dev/request': 'look' } } };
    await client.send({ verb: 'merge', kind: bucketKind, key, body });
    await until('the correction', () => Promise.resolve(remote?.quotaGiB === 9));
    await until('the echo of the request', async () => (await read())?.status?.lastRequest === 'look');
  });

  it('writes nothing but the observed state if nothing else has changed', async () => {
    await ready(9);
    const versions = new Set<string | undefined>();
    const stop = manager.caches.of(bucketKind).subscribe({
      name: 'test',
      ownEvents: 'deliver',
      on: ({ type, obj }) => type === 'update' && versions.add(obj.metadata.resourceVersion),
    });
    for (const request of ['again', 'and again']) {
      const body = { metadata: { annotations: { 'external.espalier.dev/request': request } } };
      await client.send({ verb: 'merge', kind: bucketKind, key, body });
      await until('the echo', async () => (await read())?.status?.lastRequest === request);
    }
    const last = (await read())?.metadata.resourceVersion;
    await until('the news of the echo', () => Promise.resolve(versions.has(last)));
    stop();
    expect(versions.size).to.equal(4);
  });

  it('deletes it with its object', async () => {
    await client.send({ verb: 'delete', kind: bucketKind, key });
    await until('the end', async () => !(await read()));
    expect(service.buckets.size).to.equal(0);
    await until('the end of the secret', async () => {
      return !(await getIfThere(client, Secret, `${namespace}/photos-access`));
    });
  });
});
