/** Integers that a double cannot hold, in objects that users write: never rounded, but rejected with their name. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { Invalid } from '../../../src/runtime/errors.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { isRealServer, useCluster } from '../../support/cluster.ts';
import {
  configMap,
  data,
  fails,
  keepingImports,
  kept,
  secret,
  succeeds,
  takes,
} from '../../support/dataflow.ts';
import { dataObject, fakeItem, lonelyItem, plan, target } from '../../support/landscape.ts';
import { skip } from '../../support/skip.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const DIGITS = '9007199254740993';
const LONG = BigInt(DIGITS);
const WAY_OUT = 'write it as a string, in quotes';
const bp = { imports: [data('v')], ...keepingImports };

describe('an integer beyond 2^53', () => {
  const here = useCluster();

  it('in a config map is rejected with the key and the line', async () => {
    const { error } = await fails(here, {
      bp,
      spec: { imports: { data: [{ name: 'v', configMapRef: { name: 'c', key: 'k' } }] } },
      objects: [configMap('c', { data: { k: `a: 1\nb: ${DIGITS}\n` } })],
    });
    expect(error.message).to.match(
      /configmap \S+\/c cannot be read: key k: .*line 2: integer 9007199254740993/,
    );
    expect(error.message).to.contain(WAY_OUT);
  });

  it('in a secret is rejected with the key and the line, and not shown', async () => {
    const { error, self } = await fails(here, {
      bp,
      spec: { imports: { data: [{ name: 'v', secretRef: { name: 's' } }] } },
      objects: [secret('s', { k: DIGITS, l: 'x' })],
    });
    expect(error.message).to.match(/secret \S+\/s cannot be read: key k: line 1 is an integer beyond 2\^53/);
    expect(error.message).to.contain(WAY_OUT);
    expect(JSON.stringify(self.status)).to.not.contain(DIGITS);
  });

  it('in quotes is passed on', async () => {
    const objects = [dataObject('v', { n: DIGITS }), configMap('c', { data: { k: `"${DIGITS}"` } })];
    const imports = {
      data: [
        { name: 'v', dataRef: 'v' },
        { name: 'c', configMapRef: { name: 'c', key: 'k' } },
      ],
    };
    const scene = await succeeds(here, {
      bp: { ...bp, imports: [data('v'), data('c')] },
      spec: { imports },
      objects,
    });
    expect(kept(scene)).to.deep.equal({ v: { n: DIGITS }, c: DIGITS });
  });

  it('in an export of a deploy item is rejected with the secret, and not shown', async () => {
    const scene = await here.scene();
    await scene.create(plan([fakeItem('a')]));
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j1' });
    await scene.create(secret('a-export', { config: `n: ${DIGITS}` }));
    await scene.answer('plan', 'a', 'Succeeded', { exportRef: { name: 'a-export', namespace: scene.ns } });
    const failed = await scene.until('the execution has failed', () => {
      const found = scene.execution('plan');
      return found?.status?.phase === 'Failed' ? found : undefined;
    });
    const { message = '' } = failed.status?.lastError ?? {};
    expect(message).to.contain(`export secret ${scene.ns}/a-export of deploy item a: line 1 of key "config"`);
    expect(message).to.contain(WAY_OUT).and.to.not.contain(DIGITS);
  });

  /** Objects that the embedded server rejects; a real one stores 64-bit integers. */
  const stored: readonly (readonly [string, Obj, string])[] = [
    ['a data object', dataObject('v', { ports: [1, { n: LONG }] }), 'data.ports[1].n'],
    ['a target', target('t', 'kubernetes-cluster', { n: LONG }), 'spec.config.n'],
    [
      'the configuration of a deploy item',
      lonelyItem({
        type: 'landscaper.gardener.cloud/mock',
        config: {
          apiVersion: 'mock.deployer.landscaper.gardener.cloud/v1alpha1',
          kind: 'ProviderConfiguration',
          n: LONG,
        },
      }),
      'spec.config.n',
    ],
  ];

  for (const [what, object, path] of stored) {
    it(`in ${what} is rejected by the embedded server, which cannot store it`, async function () {
      if (isRealServer()) skip(this, 'a real server holds it');
      const scene = await here.scene();
      const error = await scene.create(object).catch((refused: unknown) => refused as Error);
      expect(error).to.be.instanceOf(Invalid);
      expect((error as Error).message)
        .to.contain(`${path} is the integer ${DIGITS}`)
        .and.contain(WAY_OUT);
    });
  }

  it('in an imported data object fails the job with the object and the field', async function () {
    if (!isRealServer()) skip(this, 'the embedded server does not take such an object');
    const { error } = await fails(here, {
      bp,
      spec: takes('v'),
      objects: [dataObject('v', { a: [{ n: LONG }] })],
    });
    expect(error.message).to.match(
      /data object \S+\/v: data\.a\[0\]\.n is the integer 9007199254740993 beyond 2\^53/,
    );
  });

  it('in an imported target fails the job with the object and the field', async function () {
    if (!isRealServer()) skip(this, 'the embedded server does not take such an object');
    const { error } = await fails(here, {
      bp: {},
      spec: { imports: { targets: [{ name: 't', target: 't' }] } },
      objects: [target('t', 'kubernetes-cluster', { n: LONG })],
    });
    expect(error.message).to.match(/target \S+\/t: spec\.config\.n is an integer beyond 2\^53/);
    expect(error.message).to.not.contain(DIGITS);
  });

  it('in an installation is shown with all its digits', async function () {
    if (!isRealServer()) skip(this, 'the embedded server does not take such an object');
    const scene = await here.scene();
    await scene.create({
      apiVersion: API_VERSION,
      kind: 'Installation',
      metadata: { name: 'app' },
      spec: { blueprint: { inline: { filesystem: {} } }, importDataMappings: { v: { n: LONG } } },
    } as Obj);
    const folder = mkdtempSync(join(tmpdir(), 'long-integers-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, here.cluster.kubeconfig, { mode: 0o600 });
      const terminal = fakeTerminal({ env: { KUBECONFIG: kubeconfig } });
      const args = ['installations', 'inspect', 'app', '-n', scene.ns, '-o', 'json'];
      expect(await runProgram(args, terminal), terminal.errors).to.equal(0);
      expect(terminal.output).to.contain(`"n": ${DIGITS}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('in the configuration of a deploy item fails its job with the field', async function () {
    if (!isRealServer()) skip(this, 'the embedded server does not take such an object');
    const scene = await here.scene();
    const [, , [, object]] = stored as readonly [unknown, unknown, readonly [string, Obj]];
    await scene.create(object);
    await scene.patchStatus(deployItemKind, 'lonely', {
      jobID: 'j1',
      observedGeneration: 0,
      jobIDGenerationTime: new Date().toISOString(),
    });
    const failed = await scene.until('the item has failed', () => {
      const found = scene.cluster.world.deployItems.get(`${scene.ns}/lonely`);
      return found?.status?.phase === 'Failed' ? found : undefined;
    });
    const { message = '' } = failed.status?.lastError ?? {};
    expect(message).to.contain(`deploy item ${scene.ns}/lonely: spec.config.n is the integer ${DIGITS}`);
    expect(message).to.contain(WAY_OUT);
  });
});
