/** `espalier operators`, as authors of operators use it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../../src/cli/program.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const root = join(import.meta.dirname, '../../..');

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

    mkdirSync(join(to, 'node_modules'));
    symlinkSync(root, join(to, 'node_modules/espalier'));
    symlinkSync(join(root, 'node_modules/zod'), join(to, 'node_modules/zod'));
    const tsx = `--import=${join(root, 'node_modules/tsx/dist/esm/index.mjs')}`;
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--conditions=espalier-source', tsx, '--test', 'operator.test.ts'],
      { cwd: to, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
    );
    expect(status, stdout).to.equal(0);
    expect(stdout).to.match(/^# pass 4$/m);
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
    ['an invalid plural', ['dns', '--plural', 'a-b'], '"a-b" is not a valid plural; use lower-case letters'],
  ];
  for (const [what, args, message] of refusals)
    it(`refuses ${what}`, async () => {
      const { code, err } = await run(...args, '--to', join(folder, 'x'));
      expect(code).to.equal(2);
      expect(err).to.contain(message);
    });
});
