import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';

const LS = 'landscaper.gardener.cloud';
const root = join(import.meta.dirname, '../../..');

const item = (name: string, type: string, config: object, more: object = {}): object => ({
  apiVersion: `${LS}/v1alpha1`,
  kind: 'DeployItem',
  metadata: { name },
  spec: { type: `${LS}/${type}`, timeout: '2m', config, ...more },
});

const manifests = (data: Record<string, object>, more: object = {}): object => ({
  apiVersion: `manifest.deployer.${LS}/v1alpha2`,
  kind: 'ProviderConfiguration',
  updateStrategy: 'update',
  manifests: Object.entries(data).map(([name, values]) => ({
    policy: 'manage',
    manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: values },
  })),
  ...more,
});

const exporting = (name: string): object => {
  const fromResource = { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' };
  return { exports: { exports: [{ key: 'color', fromResource, jsonPath: '.data.color' }] } };
};

const mock = (fields: object): object => ({
  apiVersion: `mock.deployer.${LS}/v1alpha1`,
  kind: 'ProviderConfiguration',
  ...fields,
});

describe('espalier deployitems run', function () {
  this.timeout(60_000);
  let target: Embedded;
  let client: Client;
  let folder: string;

  before(async () => {
    target = await startEmbedded({ simulate: false, log });
    client = createClient(
      await connect({ kubeconfig: { text: target.kubeconfig }, userAgent: 'test', clock, log }),
    );
    folder = mkdtempSync(join(tmpdir(), 'items-'));
  });
  after(async () => {
    await client.close();
    await target.close();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string, ...documents: unknown[]): string => {
    const path = join(folder, name);
    writeFileSync(path, documents.map((one) => JSON.stringify(one)).join('\n---\n'));
    return path;
  };
  const configMap = async (name: string) =>
    (await getIfThere(client, configMapKind, `default/${name}`))?.data;

  async function run(path: string, ...more: string[]): Promise<{ code: number; terminal: FakeTerminal }> {
    const terminal = fakeTerminal();
    const args = ['deployitems', 'run', path, '--target-kubeconfig', target.kubeconfigFile, ...more];
    return { code: await runProgram(args, terminal), terminal };
  }

  it('installs, changes and uninstalls, and remembers between runs what it created', async () => {
    const path = file('web.yaml', item('web', 'kubernetes-manifest', manifests({ a: { v: '1' }, b: {} })));
    expect((await run(path)).code).to.equal(0);
    expect(await configMap('a')).to.deep.equal({ v: '1' });
    expect(existsSync(`${path}.state.json`)).to.equal(true);

    file('web.yaml', item('web', 'kubernetes-manifest', manifests({ a: { v: '2' } })));
    expect((await run(path)).code).to.equal(0);
    expect(await configMap('a')).to.deep.equal({ v: '2' });
    expect(await configMap('b'), 'the second run knows what the first one made').to.equal(undefined);

    const gone = await run(path, '--delete');
    expect(gone.code, gone.terminal.errors).to.equal(0);
    expect(await configMap('a')).to.equal(undefined);
    expect(existsSync(`${path}.state.json`)).to.equal(false);
  });

  it('does not claim to have uninstalled items that it has no state of', async () => {
    const path = file('lost.yaml', item('lost', 'kubernetes-manifest', manifests({ lost: { v: '1' } })));
    await run(path, '--no-state');
    const { code, terminal } = await run(path, '--delete');
    expect(code, terminal.errors).to.equal(0);
    expect(terminal.errors)
      .to.contain('there is no state of an earlier run of lost')
      .and.not.contain('uninstalled:');
    expect(await configMap('lost')).to.deep.equal({ v: '1' });

    // The remedy that the message names.
    await run(path);
    const gone = await run(path, '--delete');
    expect(gone.terminal.errors).to.contain('uninstalled: lost').and.not.contain('nothing is known');
    expect(await configMap('lost')).to.equal(undefined);
  });

  it('lets items wait for their dependencies, and prints only exports to standard output', async () => {
    const path = file(
      'two.yaml',
      item('top', 'mock', mock({ export: { x: 1 } }), { dependsOn: ['base'] }),
      item('base', 'kubernetes-manifest', manifests({ base: { color: 'red' } }, exporting('base'))),
    );
    const { code, terminal } = await run(path);
    expect(code, terminal.errors).to.equal(0);
    expect(parseYaml(terminal.output)).to.deep.equal({ base: { color: 'red' }, top: { x: 1 } });
    expect(terminal.errors.indexOf('DeployItem base: Succeeded')).to.be.greaterThan(-1);
    expect(terminal.errors.indexOf('DeployItem base: Succeeded')).to.be.lessThan(
      terminal.errors.indexOf('DeployItem top: '),
    );
    await run(path, '--delete');
  });

  it('starts no item whose dependency has failed, and exits with 1', async () => {
    const path = file(
      'failing.yaml',
      item('base', 'mock', mock({ phase: 'Failed' })),
      item('top', 'kubernetes-manifest', manifests({ never: {} }), { dependsOn: ['base'] }),
    );
    const { code, terminal } = await run(path, '--no-state');
    expect(code).to.equal(1);
    expect(terminal.errors)
      .to.contain('DeployItem base Failed:')
      .and.contain('not started because of that: top');
    expect(await configMap('never')).to.equal(undefined);
  });

  it('uninstalls items that others depend on last', async () => {
    const path = file(
      'order.yaml',
      item('top', 'mock', mock({}), { dependsOn: ['base'] }),
      item('base', 'mock', mock({})),
    );
    expect((await run(path)).code).to.equal(0);
    const { code, terminal } = await run(path, '--delete');
    expect(code, terminal.errors).to.equal(0);
    expect(terminal.errors.indexOf('DeployItem top: ')).to.be.greaterThan(-1);
    expect(terminal.errors.indexOf('DeployItem top: ')).to.be.lessThan(
      terminal.errors.indexOf('DeployItem base: '),
    );
  });

  const placed = (name: string, namespace: string, context: string, more: object = {}): object => ({
    ...item(name, 'mock', mock({ export: { from: name } }), { context, ...more }),
    metadata: { name, namespace },
  });

  it('processes items of several namespaces and contexts, each under its own name', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}`;
    const path = file(
      'places.yaml',
      {
        apiVersion: `${LS}/v1alpha1`,
        kind: 'Context',
        metadata: { name: 'other', namespace: 'first' },
      },
      placed('one', 'first', 'default'),
      placed('two', 'second', 'default'),
      placed('three', 'first', 'other'),
      placed(long, 'first', 'other', { dependsOn: ['three'] }),
    );
    const { code, terminal } = await run(path, '--no-state');
    expect(code, terminal.errors).to.equal(0);
    expect(Object.keys(parseYaml(terminal.output) as object)).to.have.members(['one', 'two', 'three', long]);
  });

  for (const [what, other] of [
    ['namespace', placed('base', 'second', 'default')],
    ['context', placed('base', 'first', 'other')],
  ] as const) {
    it(`refuses a dependency on an item of another ${what}, because an execution cannot have one`, async () => {
      const top = placed('top', 'first', 'default', { dependsOn: ['base'] });
      const { code, terminal } = await run(file('apart.yaml', top, other), '--no-state');
      expect(code).to.equal(2);
      expect(terminal.errors).to.contain('items can only depend on items of the same namespace and context');
    });
  }

  it('reports an error of the execution if no item has failed', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'limits: {deployItems: 1}');
    const path = file('limited.yaml', item('one', 'mock', mock({})), item('two', 'mock', mock({})));
    const { code, terminal } = await run(path, '--no-state', '--config', config);
    expect(code).to.equal(1);
    expect(terminal.errors)
      .to.match(/Execution run-1 Failed: .*limits\.deployItems/s)
      .and.contain('not started because of that: one, two');
  });

  it('writes exports into a file on request', async () => {
    const path = file('export.yaml', item('web', 'mock', mock({ export: { x: 1 } })));
    const exports = join(folder, 'exports.json');
    const { terminal } = await run(path, '--exports', exports, '-o', 'json', '--no-state');
    expect(terminal.output).to.equal('');
    expect(JSON.parse(readFileSync(exports, 'utf8'))).to.deep.equal({ web: { x: 1 } });
  });

  it('continues after Ctrl-C where it stopped, and forgets nothing that it created', async () => {
    const check = {
      name: 'ready',
      resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'held', namespace: 'default' }],
      requirements: [{ jsonPath: '.data.ready', operator: 'exists' }],
    };
    const config = manifests({ held: {} }, { readinessChecks: { custom: [check] }, updateStrategy: 'merge' });
    const path = file('held.yaml', item('web', 'kubernetes-manifest', config));
    const args = [
      'src/cli/main.ts',
      'deployitems',
      'run',
      path,
      '--target-kubeconfig',
      target.kubeconfigFile,
    ];
    const env = { ...process.env, NO_COLOR: '1' };
    const child = spawn(process.execPath, ['--import', 'tsx', ...args], { cwd: root, env });
    let said = '';
    const waits = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Progressing')) resolve();
      });
    });
    const exit = once(child, 'exit') as Promise<[number | null]>;
    await Promise.race([waits, exit]);
    child.kill('SIGINT');
    expect((await exit)[0], said).to.equal(1);
    expect(said).to.contain('error: interrupted, and').and.contain('run it again to continue');
    const state = JSON.parse(readFileSync(`${path}.state.json`, 'utf8')) as { items: object };
    expect(JSON.stringify(state.items)).to.contain('"name":"held"');
    expect((await run(path, '--delete')).code).to.equal(0);
    expect(await configMap('held')).to.equal(undefined);
  });

  const mistakes: readonly (readonly [string, readonly unknown[], RegExp])[] = [
    ['a file without items', [], /has no DeployItem in it/],
    [
      'another kind of object',
      [{ ...item('x', 'mock', mock({})), kind: 'Deploment' }],
      /an object of kind Deploment/,
    ],
    [
      'a type without deployer',
      [item('x', 'ansible', {})],
      /DeployItem x is of type .*ansible, which no deployer/,
    ],
    [
      'a dependency on an unknown item',
      [item('x', 'mock', mock({}), { dependsOn: ['y'] })],
      /"x" depends on "y", which does not exist/,
    ],
    [
      'cyclic dependencies',
      [item('x', 'mock', mock({}), { dependsOn: ['y'] }), item('y', 'mock', mock({}), { dependsOn: ['x'] })],
      /dependencies form a cycle/,
    ],
  ];
  for (const [title, documents, line] of mistakes) {
    it(`refuses a file with ${title}`, async () => {
      const { code, terminal } = await run(file('wrong.yaml', ...documents), '--no-state');
      expect(code).to.equal(2);
      expect(terminal.errors).to.match(line);
    });
  }

  it('asks for the kubeconfig of an unknown target', async () => {
    const path = file('x.yaml', item('x', 'mock', mock({}), { target: { name: 'prod' } }));
    const terminal = fakeTerminal();
    expect(await runProgram(['di', 'run', path, '--no-state'], terminal)).to.equal(2);
    expect(terminal.errors).to.match(/no kubeconfig for target prod of DeployItem x; .*--target prod=FILE/);
  });

  it('warns of unknown fields', async () => {
    const path = file('slip.yaml', item('slip', 'mock', mock({ exports: { a: 1 } })));
    const { code, terminal } = await run(path, '--no-state');
    expect(code, terminal.errors).to.equal(0);
    expect(terminal.errors).to.contain(
      'warning: deploy item slip: config.exports is not a known field; did you mean export?',
    );
  });

  it('does not start if the exports cannot be written', async () => {
    const path = file('z.yaml', item('z', 'mock', mock({})));
    const { code, terminal } = await run(path, '--no-state', '--exports', '/nowhere/exports.yaml');
    expect(code).to.equal(2);
    expect(terminal.errors).to.contain('cannot write /nowhere/exports.yaml (ENOENT)');
  });

  it('refuses an invalid state file', async () => {
    const path = file('y.yaml', item('y', 'mock', mock({})));
    const { code, terminal } = await run(path, '--state', target.kubeconfigFile);
    expect(code).to.equal(2);
    expect(terminal.errors).to.contain('is not a state file');
  });
});
