import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP } from '../../src/api/labels.ts';
import { systemClock, timestamp } from '../../src/lib/clock.ts';
import type { View } from '../../src/runtime/types.ts';
import type { Siege } from '../support/besieged.ts';
import { useCluster } from '../support/cluster.ts';
import { startHostileServer, type Attack, type HostileServer } from '../support/hostile-server.ts';
import type { Scene } from '../support/scene.ts';

const BESIEGED = join(import.meta.dirname, '../support/besieged.ts');
/** Less than a process of Espalier has, and too little for any of the attacks. */
const HEAP_MIB = 192;

/** A process that calls both servers, and its result. */
async function besieged(hostile: string, good: string, how: string, times: number): Promise<Siege> {
  const args = [
    `--max-old-space-size=${String(HEAP_MIB)}`,
    '--import',
    'tsx',
    BESIEGED,
    hostile,
    good,
    how,
    String(times),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [printed, complaint] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`the process ended with ${String(code)}: ${complaint.slice(-2_000)}`);
  return JSON.parse(printed) as Siege;
}

describe('servers with responses that are far too large', function () {
  this.timeout(180_000);
  let hostile: HostileServer;

  before(async () => {
    hostile = await startHostileServer('nested arrays');
  });
  after(() => hostile.close());

  describe('requested many times at once', () => {
    let good: Server;
    let goodUrl: string;

    before(async () => {
      good = createServer((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{"name":"a"}}');
      });
      await new Promise<void>((resolve) => good.listen(0, '127.0.0.1', resolve));
      goodUrl = `http://127.0.0.1:${String((good.address() as AddressInfo).port)}`;
    });
    after(() => {
      good.closeAllConnections();
      good.close();
    });

    const rows: readonly (readonly [Attack, 'get' | 'list' | 'watch', number, RegExp])[] = [
      ['nested arrays', 'get', 32, /nested more than 500 levels deep.+limits\.targetResponseDepth/],
      ['very many empty objects', 'get', 32, /more than 131072 values.+limits\.targetResponseMiB/],
      ['an endless string', 'get', 32, /more than 16 MiB.+limits\.targetResponseMiB/],
      ['an endless string', 'watch', 32, /an event of more than 4 MiB.+limits\.targetResponseMiB/],
      ['a small body that unpacks to a large one', 'get', 32, /more than 16 MiB.+limits\.targetResponseMiB/],
      ['as many bytes as allowed', 'get', 16, /^ok$/],
      ['as many values as allowed', 'get', 8, /^ok$/],
      ['endless pages', 'list', 4, /lists of more than 32 MiB.+limits\.targetResponseMiB/],
    ];
    for (const [attack, how, times, outcome] of rows) {
      it(`with ${attack} to ${String(times)} of ${how}: memory stays bounded, and another server still gets requests`, async () => {
        hostile.attack = attack;
        const { outcomes, grownMiB, longestBlockMs, goodMs } = await besieged(
          hostile.url,
          goodUrl,
          how,
          times,
        );
        expect(outcomes).to.have.length(times);
        for (const each of outcomes) expect(each).to.match(outcome);
        expect(grownMiB, 'MiB beyond what the process had').to.be.below(HEAP_MIB + 128);
        expect(longestBlockMs, 'ms of processor time in one turn').to.be.below(1_000);
        expect(goodMs.length, 'answers of the other server').to.be.above(0);
      });
    }
  });

  describe('as the target of a deploy item', () => {
    const scenes = useCluster({ deployers: ['manifest'] });

    /** One job of an item that creates a ConfigMap on the hostile server. */
    async function job(scene: Scene): Promise<View<DeployItem>> {
      const { client, world } = scenes.cluster;
      const create = (kind: typeof deployItemKind | typeof targetKind, name: string, more: object) =>
        client.send({
          verb: 'create',
          kind: kind as typeof deployItemKind,
          object: {
            apiVersion: API_VERSION,
            kind: kind.kind,
            ...more,
            metadata: { name, namespace: scene.ns, ...('metadata' in more && (more.metadata as object)) },
          } as never,
        });
      const { kubeconfig } = hostile;
      await create(targetKind, 'there', {
        spec: { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig } },
      });
      const type = `${GROUP}/kubernetes-manifest`;
      const notes = { [annotations.deployerType]: type, [annotations.deployerTargetName]: 'there' };
      const config = {
        apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
        kind: 'ProviderConfiguration',
        manifests: [
          { policy: 'manage', manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } } },
        ],
      };
      await create(deployItemKind, 'web', {
        metadata: { annotations: notes },
        spec: { type, target: { name: 'there', namespace: scene.ns }, timeout: '2m', config },
      });
      const now = timestamp(systemClock);
      const status = {
        observedGeneration: 0,
        jobID: 'j1',
        jobIDGenerationTime: now,
        transitionTimes: { triggerTime: now, initTime: null },
      };
      const key = `${scene.ns}/web`;
      await client.send({ verb: 'merge', kind: deployItemKind, key, body: { status }, sub: 'status' });
      return scene.until('the job has ended', () => {
        const item = world.deployItems.get(key);
        return item?.status?.jobIDFinished === 'j1' ? item : undefined;
      });
    }

    for (const [attack, limit] of [
      [
        'nested arrays',
        'data nested more than 500 levels deep, the limit for a target cluster; limits.targetResponseDepth',
      ],
      ['an endless string', 'more than 16 MiB, the limit for a target cluster; limits.targetResponseMiB'],
    ] as const) {
      it(`end the job at once with a message that names server, limit and key: ${attack}`, async () => {
        hostile.attack = attack;
        const { status } = await job(await scenes.scene());
        expect(status?.phase).to.equal('Failed');
        expect(status?.lastError?.message).to.contain(hostile.url).and.to.contain(limit);
        expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      });
    }
  });
});
