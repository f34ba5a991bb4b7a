/** `espalier operators`, as authors of operators use it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { parseYaml, parseYamlAll } from '../../../src/lib/yaml.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';

import { freePort } from '../../support/ports.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { eventually } from '../../support/waiting.ts';

const root = join(import.meta.dirname, '../../..');
/** Options of Node.js that run TypeScript, and the sources of this package. */
const sources = [
  '--conditions=espalier-source',
  `--import=${join(root, 'node_modules/tsx/dist/esm/index.mjs')}`,
];
const env = { ...process.env, NODE_OPTIONS: '' };

interface Policy extends Obj {
  spec: Record<string, unknown>;
  status?: { ready?: boolean };
}

describe('espalier operators new', function () {
  this.timeout(120_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(...args: string[]) {
    const terminal = fakeTerminal();
    const code = await runProgram(['operators', 'new', ...args], terminal);
    return { code, out: terminal.output, err: terminal.errors };
  }
  /** The packages of a project, without npm. */
  const linkPackages = (to: string): void => {
    mkdirSync(join(to, 'node_modules'));
    symlinkSync(root, join(to, 'node_modules/espalier'));
    symlinkSync(join(root, 'node_modules/zod'), join(to, 'node_modules/zod'));
  };
  const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');

  it('writes an operator that uses the given names everywhere, and whose tests pass', async () => {
    const to = join(folder, 'policy');
    const { code, out } = await run('network-policy', '--group', 'net.example.com', '--to', to);
    expect(code).to.equal(0);
    expect(out).to.contain('An operator for the kind NetworkPolicy (networkpolicies.net.example.com)');
    const texts = readdirSync(to).map((file) => read('policy', file).replaceAll('registry.example.org', ''));
    expect(texts.join('\n')).to.not.match(/skeleton|example\.org/i);
    const crd = parseYaml(read('policy', 'crd.yaml')) as { metadata: object; spec: { names: object } };
    expect(crd.metadata).to.deep.equal({ name: 'networkpolicies.net.example.com' });
    expect(crd.spec.names).to.include({ kind: 'NetworkPolicy', singular: 'networkpolicy' });
    expect(JSON.parse(read('policy', 'package.json'))).to.have.property('name', 'network-policy-operator');

    linkPackages(to);
    const { status, stdout } = spawnSync(process.execPath, [...sources, '--test', 'operator.test.ts'], {
      cwd: to,
      encoding: 'utf8',
      env,
    });
    expect(status, stdout).to.equal(0);
    expect(stdout).to.match(/^# pass 4$/m);
  });

  it('names the version of the kind', async () => {
    await run('dns', '--versions', 'v1', '--to', join(folder, 'dns'));
    for (const file of ['kind.ts', 'crd.yaml', 'example.yaml']) {
      expect(read('dns', file)).to.contain('v1');
      expect(read('dns', file)).to.not.contain('v1alpha1');
    }
    expect(existsSync(join(folder, 'dns/conversion.ts'))).to.equal(false);
  });

  describe('for external resources', () => {
    let to: string;
    let code: number;
    beforeEach(async () => {
      to = join(folder, 'box');
      ({ code } = await run('mailbox', '--external', '--group', 'mail.example.com', '--to', to));
    });
    const inProject = (...args: string[]) =>
      spawnSync(process.execPath, [...sources, ...args], { cwd: to, encoding: 'utf8', env });

    it('writes an operator that uses the given names everywhere, and whose tests pass', () => {
      expect(code).to.equal(0);
      const texts = readdirSync(to).map((file) => read('box', file).replaceAll('registry.example.org', ''));
      expect(texts.join('\n')).to.not.match(/skeleton|example\.org|Deployment, Service/i);
      linkPackages(to);
      const { status, stdout } = inProject('--test', 'operator.test.ts');
      expect(status, stdout).to.equal(0);
      expect(stdout).to.match(/^# pass 3$/m);
    });

    it('writes a CustomResourceDefinition with the fields of the runtime on demand', () => {
      expect(existsSync(join(to, 'crd.yaml'))).to.equal(false);
      linkPackages(to);
      const { status, stderr } = inProject('crd.ts');
      expect(status, stderr).to.equal(0);
      const crd = read('box', 'crd.yaml');
      for (const field of ['message', 'managementPolicies', 'lastRequest', 'mailboxes.mail.example.com'])
        expect(crd).to.contain(field);
    });

    it('has the permissions that such an operator needs', () => {
      const role = parseYamlAll(read('box', 'deploy.yaml'))[2] as { rules: readonly object[] };
      expect(role.rules).to.deep.equal([
        {
          apiGroups: ['mail.example.com'],
          resources: ['mailboxes'],
          verbs: ['get', 'list', 'watch', 'patch'],
        },
        { apiGroups: ['mail.example.com'], resources: ['mailboxes/status'], verbs: ['patch'] },
        { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ]);
    });

    it('has one version', async () => {
      const refused = await run(
        'mailbox',
        '--external',
        '--versions',
        'v1,v2',
        '--to',
        join(folder, 'other'),
      );
      expect(refused.code).to.not.equal(0);
      expect(refused.err).to.contain('--external supports one version');
      expect(existsSync(join(folder, 'other'))).to.equal(false);
    });
  });

  describe('with two versions', () => {
    let to: string;
    beforeEach(async () => {
      to = join(folder, 'policy');
      const versions = ['--versions', 'v1beta2,v1', '--to', to];
      const { code } = await run('network-policy', '--group', 'net.example.com', ...versions);
      expect(code).to.equal(0);
      linkPackages(to);
    });

    it('writes names and versions everywhere, and the tests pass', () => {
      const files = readdirSync(to).filter((file) => file !== 'node_modules');
      const texts = files.map((file) => read('policy', file).replaceAll('registry.example.org', ''));
      expect(texts.join('\n')).to.not.match(/skeleton|example\.org|v1alpha1|v1beta1/i);
      const crd = parseYaml(read('policy', 'crd.yaml')) as {
        spec: { versions: readonly { name: string; storage: boolean }[] };
      };
      expect(crd.spec.versions.map(({ name, storage }) => [name, storage])).to.deep.equal([
        ['v1', true],
        ['v1beta2', false],
      ]);
      const { scripts } = JSON.parse(read('policy', 'package.json')) as { scripts: { test: string } };
      const tests = ['operator.test', 'conversion.test'];
      for (const test of tests) expect(scripts.test).to.contain(`dist/${test}.js`);
      const { status, stdout } = spawnSync(
        process.execPath,
        [...sources, '--test', ...tests.map((test) => `${test}.ts`)],
        { cwd: to, encoding: 'utf8', env },
      );
      expect(status, stdout).to.equal(0);
      expect(stdout).to.match(/^# pass 9$/m);
    });

    it('converts on an API server', async () => {
      const server = await startApiServer({ simulate: true });
      const port = await freePort();
      const kubeconfig = { text: server.kubeconfig };
      const client = createClient(
        await connect({ kubeconfig, userAgent: 'test', clock: systemClock, log: silentLogger }),
      );
      const install = (file: string, kind: Kind) =>
        client.send({ verb: 'create', kind, object: parseYaml(read('policy', file)) as Obj });
      const kindOf = (version: string): Kind<Policy> => ({
        group: 'net.example.com',
        version,
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        namespaced: true,
      });
      writeFileSync(join(to, 'kubeconfig'), server.kubeconfig);
      await install('crd.yaml', CustomResourceDefinition);
      const operator = spawn(process.execPath, [...sources, 'main.ts'], {
        cwd: to,
        stdio: 'ignore',
        env: { ...env, KUBECONFIG: 'kubeconfig', CONVERSION_URL: `https://127.0.0.1:${String(port)}` },
      });
      try {
        await eventually('the operator converts', async () => {
          const { spec } = await client.get(CustomResourceDefinition, 'networkpolicies.net.example.com');
          return JSON.stringify(spec.conversion).includes(String(port));
        });
        await install('example-older.yaml', kindOf('v1beta2'));
        const newer = () => client.get(kindOf('v1'), 'default/hello-older');
        expect((await newer()).spec).to.include({ message: 'hello', port: 8080 });
        await eventually('it is reconciled', async () => (await newer()).status?.ready);
        await install('example.yaml', kindOf('v1'));
        const older = await client.get(kindOf('v1beta2'), 'default/hello');
        expect(older.spec).to.deep.equal({ text: 'hello', replicas: 1 });
      } finally {
        operator.kill();
        await once(operator, 'exit');
        await client.close();
        await server.close();
      }
    });
  });

  it('takes kind and plural from options', async () => {
    const args = ['dns', '--kind', 'DnsRecord', '--plural', 'dnsrecs', '--to', join(folder, 'dns')];
    const { out } = await run(...args);
    expect(out).to.contain('the kind DnsRecord (dnsrecs.example.org)');
    expect(read('dns', 'kind.ts')).to.contain('export const dnsrecs: Kind<DnsRecord>');
  });

  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    ['an invalid name', ['Dns'], '"Dns" is not a valid operator name; use at most'],
    ['an invalid group', ['dns', '--group', 'dns'], '"dns" is not a valid API group; use a domain'],
    ['a group of Kubernetes', ['dns', '--group', 'x.k8s.io'], '"x.k8s.io" is reserved for Kubernetes'],
    ['an invalid kind', ['dns', '--kind', 'dns'], '"dns" is not a valid kind; use a name such as DnsRecord'],
    ['a kind that the operator imports', ['service'], 'the operator imports another Service; give the kind'],
    ['an invalid version', ['dns', '--versions', 'alpha'], '"alpha" is not a valid version; use versions'],
    ['the same version twice', ['dns', '--versions', 'v1,v1'], '"v1,v1" is not one version or two different'],
    ['three versions', ['dns', '--versions', 'v1,v2,v3'], '"v1,v2,v3" is not one version or two different'],
    ['an invalid plural', ['dns', '--plural', 'a-b'], '"a-b" is not a valid plural; use lower-case letters'],
  ];
  for (const [what, args, message] of refusals)
    it(`refuses ${what}`, async () => {
      const { code, err } = await run(...args, '--to', join(folder, 'x'));
      expect(code).to.equal(2);
      expect(err).to.contain(message);
    });
});
