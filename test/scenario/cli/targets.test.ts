/** Targets that the command line creates: deployers connect to their clusters with them. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP, operations } from '../../../src/api/labels.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import type { Scene } from '../../support/scene.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { manage, manifestConfig } from '../../unit/deployers/bench.ts';

describe('targets that the command line creates', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['manifest'] });
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'targets-'));
    writeFileSync(join(folder, 'k.yaml'), scenes.cluster.kubeconfig, { mode: 0o600 });
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** What the command prints. */
  async function printed(scene: Scene, ...more: readonly string[]): Promise<string> {
    const terminal = fakeTerminal();
    const file = join(folder, 'k.yaml');
    const args = ['targets', 'create', 'kubernetes-cluster', '--name', 't', '-n', scene.ns];
    const code = await runProgram([...args, '--target-kubeconfig', file, ...more], terminal);
    expect([code, terminal.errors]).to.deep.equal([0, '']);
    return terminal.output;
  }

  /** Sends the documents to the cluster, as `kubectl apply -f -` would. @returns their kinds */
  async function applied(text: string): Promise<readonly string[]> {
    const kinds: Readonly<Record<string, Kind>> = { Secret: secretKind, Target: targetKind };
    const documents = parseYamlAll(text) as Obj[];
    for (const object of documents) {
      const kind = kinds[object.kind];
      if (!kind) throw new Error(`nobody expects a ${object.kind}`);
      await scenes.cluster.client.send({ verb: 'create', kind, object });
    }
    return documents.map(({ kind }) => kind);
  }

  /** Has an item deployed through the target. */
  async function deploys(scene: Scene): Promise<void> {
    const { client, world } = scenes.cluster;
    const metadata = { name: 'made', namespace: scene.ns };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await client.send<Obj>({
      verb: 'create',
      kind: deployItemKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'DeployItem',
        metadata: {
          name: 'web',
          namespace: scene.ns,
          annotations: { [annotations.operation]: operations.testReconcile },
        },
        spec: {
          type: `${GROUP}/kubernetes-manifest`,
          target: { name: 't', namespace: scene.ns },
          config: manifestConfig({ manifests: [manage(manifest)] }),
        },
      } as Obj,
    });
    const status = await scene.until('the job of the item has ended', () => {
      const { status } = world.deployItems.get(`${scene.ns}/web`) ?? {};
      return status?.jobID !== undefined && status.jobIDFinished === status.jobID && status;
    });
    expect(status.phase, status.lastError?.message).to.equal('Succeeded');
    expect(await client.get(configMapKind, `${scene.ns}/made`)).to.have.property('kind');
  }

  it('DEP-91: a Secret and a Target that refers to it give access to the cluster', async () => {
    const scene = await scenes.scene();
    expect(await applied(await printed(scene, '-s', 'sec'))).to.deep.equal(['Secret', 'Target']);
    const { client } = scenes.cluster;
    const secret = await client.get(secretKind, `${scene.ns}/sec`);
    const text = Buffer.from(secret.data?.['config'] ?? '', 'base64').toString();
    expect(JSON.parse(text)).to.deep.equal({ kubeconfig: scenes.cluster.kubeconfig });
    const target = await client.get(targetKind, `${scene.ns}/t`);
    expect(target.spec).to.deep.include({ secretRef: { name: 'sec', key: 'config' } });
    await deploys(scene);
  });

  it('DEP-91: one Target with all data gives access to the cluster', async () => {
    const scene = await scenes.scene();
    expect(await applied(await printed(scene))).to.deep.equal(['Target']);
    await deploys(scene);
  });

  it('DEP-91: the same can be written to a file that only its owner can read', async () => {
    const scene = await scenes.scene();
    const file = join(folder, 'out.yaml');
    expect(await printed(scene, '-s', 'sec', '--output-file', file)).to.equal(`Wrote target to ${file}\n`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(await applied(readFileSync(file, 'utf8'))).to.deep.equal(['Secret', 'Target']);
    await deploys(scene);
  });
});
