/** The container deployer on real pods: what docs/container.md promises to images and to users. */
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REGISTRY } from '../../hack/node/settings.ts';
import type { Client } from '../../src/runtime/types.ts';
import { Box } from './support/boxes.ts';
import {
  allNames,
  apply,
  connectClient,
  espalier,
  images,
  install,
  kubectl,
  LS_SYSTEM,
  namespace,
  uninstall,
  until,
  withoutService,
  type Pod,
} from './support/cluster.ts';

const SECRET = 'a-secret-value';

/** Small limits, so that an image exceeds them soon. */
const CONFIGURATION = {
  apiVersion: 'config.landscaper.gardener.cloud/v1alpha1',
  kind: 'LandscaperConfiguration',
  registry: { oci: { allowPlainHttp: true } },
  container: {
    resources: {
      requests: { cpu: '10m', memory: '32Mi' },
      limits: { memory: '128Mi', 'ephemeral-storage': '64Mi' },
    },
  },
};

const podOf = (name: string): Pod =>
  JSON.parse(kubectl('get', 'pod', name, '-n', LS_SYSTEM, '-o', 'json')) as Pod;

/** Gives an image of the registry of the node another tag. */
async function copyTag(from: string, to: string): Promise<void> {
  const [urlOf, type] = [
    (image: string) => `http://${REGISTRY}/v2/${image.replace(/^[^/]+\//, '').replace(':', '/manifests/')}`,
    'application/vnd.docker.distribution.manifest.v2+json',
  ];
  const manifest = await (await fetch(urlOf(from), { headers: { accept: type } })).text();
  const { status } = await fetch(urlOf(to), {
    method: 'PUT',
    headers: { 'content-type': type },
    body: manifest,
  });
  expect(status).to.equal(201);
}

const untilGone = (pod: string, seconds: number): Promise<unknown> =>
  until(
    `pod ${pod} is gone`,
    seconds,
    () => kubectl('get', 'pod', pod, '-n', LS_SYSTEM, '--ignore-not-found') === '',
  );

describe('container items on a node', function () {
  this.timeout(0);
  let client: Client;
  let folder: string;
  const boxes: Box[] = [];

  before(async () => {
    client = await connectClient();
    folder = mkdtempSync(join(tmpdir(), 'espalier-node-'));
    const file = join(folder, 'configuration.yaml');
    writeFileSync(file, JSON.stringify(CONFIGURATION));
    apply(namespace(LS_SYSTEM, { 'pod-security.kubernetes.io/enforce': 'restricted' }));
    install(['--config', file]);
  });
  after(async () => {
    for (const each of boxes) each.skipDeletionRun();
    uninstall(...boxes.map((each) => each.namespace));
    rmSync(folder, { recursive: true, force: true });
    await client.close();
  });

  const box = (name: string, ...objects: readonly object[]): Box => {
    const created = new Box(client, name, ...objects);
    boxes.push(created);
    return created;
  };

  it('run in a namespace with the profile "restricted", as docs/container.md describes', async () => {
    const { phase, problem, exported } = await box('run').run({
      values: { say: { a: [1] } },
      configuration: {
        blueprint: {
          inline: { filesystem: { 'blueprint.yaml': 'kind: Blueprint', files: { 'a.txt': 'text' } } },
        },
      },
    });
    expect(phase, problem?.message).to.equal('Succeeded');
    expect(exported).to.deep.include({
      operation: 'RECONCILE',
      count: 1,
      user: 1000,
      group: 3000,
      content: ['blueprint.yaml', 'files/a.txt'],
      target: null,
      hasToken: false,
      say: { a: [1] },
    });
    expect(exported?.groups).to.include(2000);
    expect(exported?.pod).to.match(/^ls-system\//);
  });

  it('keep their state over ten runs', async () => {
    const keeper = box('state');
    for (let run = 1; run <= 10; run++) {
      const { phase, problem, exported } = await keeper.run({ values: { stateBytes: 1_500_000, say: run } });
      expect(phase, problem?.message).to.equal('Succeeded');
      expect(exported).to.deep.include({ count: run, say: run, state: ['deep/count', 'large'] });
    }
  });

  it('fail with the end of the output, export nothing, and keep the state', async () => {
    const failing = box('failure');
    const { phase, problem, exported } = await failing.run({ values: { mode: 'fail' } });
    expect(phase).to.equal('Failed');
    expect(problem).to.include({ operation: 'RunMainContainer', reason: 'ContainerFailed' });
    expect(problem?.message).to.match(/^container main exited with 3: [^]*the reason of the failure/);
    expect(exported).to.equal(undefined);
    const next = await failing.run({ values: {} });
    expect(next.exported).to.deep.include({ count: 2 });
  });

  it('fail with OOMKilled above the memory limit', async () => {
    const { phase, problem } = await box('memory').run({ values: { mode: 'oom' } });
    expect(phase).to.equal('Failed');
    expect(problem?.message).to.match(/^container main exited with 137 \(OOMKilled\)/);
  });

  it('fail with the message of the kubelet if their pod is evicted', async () => {
    const { phase, problem } = await box('eviction').run({ values: { mode: 'disk' } });
    expect(phase).to.equal('Failed');
    expect(problem?.message).to.match(/Evicted|ephemeral local storage/);
  });

  it('time out: the image gets SIGTERM, and its state is stored', async () => {
    const slow = box('timeout');
    const { phase, problem, exported } = await slow.run({
      values: { mode: 'sleep', seconds: 600 },
      timeout: '15s',
    });
    expect(phase).to.equal('Failed');
    expect(problem?.codes ?? [], problem?.message).to.include('ERR_TIMEOUT');
    expect(exported).to.equal(undefined);
    const next = await slow.run({});
    expect(next.exported, next.problem?.message).to.deep.include({ count: 2 });
    expect(next.exported?.state).to.include('ended-early');
  });

  it('are interrupted: the pod ends, and the next job runs the image again', async () => {
    const interrupted = box('interruption');
    const before = await interrupted.start({ values: { mode: 'sleep', seconds: 600 } });
    const pod = await interrupted.runningPod();
    await interrupted.operate('interrupt');
    const { phase } = await interrupted.end(before, 60);
    expect(phase).to.equal('Failed');
    await untilGone(pod, 60);
    const next = await interrupted.run({});
    expect(next.phase, next.problem?.message).to.equal('Succeeded');
  });

  it('end soon when their pod is deleted, with the state stored and nothing exported', async () => {
    const drained = box('deleted');
    const before = await drained.start({ values: { mode: 'sleep', seconds: 600 } });
    const name = await drained.runningPod();
    expect(podOf(name).spec.initContainers?.map(({ restartPolicy }) => restartPolicy)).to.deep.equal([
      undefined,
      'Always',
    ]);
    const started = Date.now();
    kubectl('delete', 'pod', name, '-n', LS_SYSTEM, '--wait=false');
    const { phase, problem, exported } = await drained.end(before, 60);
    expect(phase).to.equal('Failed');
    expect(problem?.message).to.match(/exited with 143/);
    expect(exported).to.equal(undefined);
    await untilGone(name, 30);
    expect(Date.now() - started).to.be.lessThan(30_000);
    const next = await drained.run({});
    expect(next.exported?.state).to.include('ended-early');
  });

  it('survive the end of the deployer: the image runs once', async () => {
    const surviving = box('restart');
    const before = await surviving.start({ values: { mode: 'sleep', seconds: 12 } });
    await surviving.runningPod();
    kubectl(
      'delete',
      'pod',
      '-n',
      LS_SYSTEM,
      '-l',
      'app.kubernetes.io/name=espalier',
      '--force',
      '--grace-period=0',
    );
    const { phase, problem, exported } = await surviving.end(before, 120);
    expect(phase, problem?.message).to.equal('Succeeded');
    expect(exported).to.deep.include({ count: 1 });
  });

  it('get the target inline, by secret, and by a key of a secret', async () => {
    const credentials = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'credentials', namespace: 'target' },
      stringData: { user: 'me', password: SECRET },
    };
    const user = box('target', credentials);
    const inline = await user.run({ target: { config: { password: SECRET } } });
    expect(JSON.parse(inline.exported?.target?.content ?? '')).to.deep.equal({ password: SECRET });
    expect(inline.exported?.target).to.have.nested.property('target.metadata.name', 'place');

    const whole = await user.run({ target: { secretRef: { name: 'credentials' } } });
    expect(JSON.parse(whole.exported?.target?.content ?? '')).to.deep.equal({ user: 'me', password: SECRET });

    const keyed = await user.run({ target: { secretRef: { name: 'credentials', key: 'password' } } });
    expect(keyed.exported?.target?.content).to.equal(SECRET);
  });

  it('get components from a registry through the init container', async () => {
    const archive = join(folder, 'hello.ctf');
    espalier('components', 'pack', 'docs/samples/hello-component', '--to', archive);
    espalier('components', 'push', archive, `${REGISTRY}/components`, '--plain-http');
    const repositoryContext = { type: 'OCIRegistry', baseUrl: `${REGISTRY}/components` };
    const component = { componentName: 'example.org/hello', version: '1.0.0', repositoryContext };
    const { phase, problem, exported } = await box('component').run({
      configuration: {
        componentDescriptor: { ref: component },
        blueprint: { ref: { resourceName: 'blueprint' } },
      },
    });
    expect(phase, problem?.message).to.equal('Succeeded');
    expect(exported?.components).to.deep.equal(['example.org/hello']);
    expect(exported?.content).to.include('blueprint.yaml');
  });

  it('fail at once if the image does not exist or has no valid name', async () => {
    const puller = box('pull');
    const absent = await puller.run({ configuration: { image: 'registry.example.org/no-such-image:1' } });
    expect(absent.phase).to.equal('Failed');
    expect(absent.problem?.message).to.include('registry.example.org/no-such-image:1');
    expect(absent.seconds).to.be.lessThan(30);

    const invalid = await puller.run({ configuration: { image: 'Not A Name' } });
    expect(invalid.phase).to.equal('Failed');
    expect(invalid.problem?.message).to.include('Not A Name');
  });

  it('wait while the registry of their image is not available', async () => {
    const later = images.job.replace(/:.*/, ':later');
    await copyTag(images.job, later);
    const waiting = box('registry');
    const before = await withoutService('registry', async () => {
      const job = await waiting.start({ configuration: { image: later } });
      await until('the item shows why it waits', 60, async () =>
        /:later" cannot be pulled at the moment[^]*connection refused/.test(
          (await waiting.item()).status?.lastError?.message ?? '',
        ),
      );
      return job;
    });
    const { phase, problem } = await waiting.end(before);
    expect(phase, problem?.message).to.equal('Succeeded');
  });

  it('run for their deletion with the state, and leave nothing behind', async () => {
    const before = new Set(allNames());
    const deleted = new Box(client, 'deletion');
    const first = await deleted.run({ values: { onDelete: 'fail' }, target: { config: { a: 1 } } });
    expect(first.phase).to.equal('Succeeded');
    const remove = (): string =>
      kubectl('delete', 'installations.landscaper.gardener.cloud', 'box', '-n', 'deletion', '--timeout=60s');
    kubectl('delete', 'installations.landscaper.gardener.cloud', 'box', '-n', 'deletion', '--wait=false');
    const failed = await until('the deletion fails', 60, async () => {
      const item = await deleted.item();
      return item.status?.phase === 'DeleteFailed' && item;
    });
    expect(failed.status?.lastError?.message).to.match(/exited with 3/);
    deleted.skipDeletionRun();
    await pause(1_000);
    await deleted.operate('reconcile');
    remove();
    kubectl('delete', 'namespace', 'deletion', '--timeout=60s');
    expect(allNames().filter((name) => !before.has(name))).to.deep.equal([]);
  });
});
