/** The npm package, as users install it: its weight, its types, its program, and projects that depend on it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { PATIENCE_MS } from '../../support/conformance.ts';
import { skip } from '../../support/skip.ts';
import { eventually } from '../../support/waiting.ts';

const root = join(import.meta.dirname, '../../..');
/** Measured on 2026-11-28: 13.1 MB, and 39.9 MB with the compiler and the types of Node.js. */
const MAX_INSTALLED_BYTES = 13_500_000;
const MAX_PROJECT_BYTES = 40_000_000;
const NO_REGISTRY = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET|E40[34]\b/;
/** Parts of the program that operators do not load. */
const NOT_IN_OPERATORS =
  /node_modules\/(fastify|ajv|handlebars|commander|re2js|bcryptjs|smol-toml|zod|@kubernetes)\//;

describe('the npm package', function () {
  this.timeout(600_000);
  let folder: string;
  let consumer: string;
  let server: ChildProcess | undefined;

  before(function () {
    folder = mkdtempSync(join(tmpdir(), 'espalier-package-'));
    consumer = join(folder, 'consumer');
    checked('node', ['hack/build.mjs'], root);
    const [archive = ''] = checked('npm', ['pack', '--silent', '--pack-destination', folder], root)
      .trim()
      .split('\n')
      .slice(-1);
    mkdirSync(consumer);
    writeFileSync(
      join(consumer, 'package.json'),
      JSON.stringify({ type: 'module', dependencies: { espalier: `file:../${archive}` } }),
    );
    const { status, stderr } = run('npm', ['install', '--omit=dev', '--prefer-offline'], consumer);
    if (status !== 0 && NO_REGISTRY.test(stderr)) skip(this, 'no registry of npm packages is reachable');
    expect(status, stderr).to.equal(0);
  });
  after(() => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (program: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
    spawnSync(program === 'node' ? process.execPath : program, [...args], {
      cwd,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
  function checked(
    program: string,
    args: readonly string[],
    cwd: string,
    env: Record<string, string> = {},
  ): string {
    const { status, stdout, stderr } = run(program, args, cwd, env);
    expect(status, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout;
  }
  const espalier = (args: readonly string[], env: Record<string, string> = {}) =>
    run('node', [join(consumer, 'node_modules/espalier/dist/src/cli/main.js'), ...args], consumer, env);

  it('brings zod and nothing else', () => {
    const installed = readdirSync(join(consumer, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).to.deep.equal(['espalier', 'zod']);
    expect(bytesIn(join(consumer, 'node_modules'))).to.be.below(MAX_INSTALLED_BYTES);
  });

  it('has the licences of what it contains', () => {
    const dist = join(consumer, 'node_modules/espalier/dist');
    const licenses = readFileSync(join(dist, 'licenses.txt'), 'utf8');
    const bundled = readdirSync(join(dist, 'node_modules'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.name === 'package.json')
      .map((entry) => JSON.parse(readFileSync(join(entry.parentPath, entry.name), 'utf8')) as Bundled);
    expect(bundled.map(({ name }) => name)).to.include.members([
      '@kubernetes/client-node',
      'fastify',
      'undici',
    ]);
    for (const { name, version } of bundled) expect(licenses).to.contain(`${name} ${version}\n`);
  });

  it('loads only what operators need, for an operator', () => {
    const hook = `import { writeSync } from 'node:fs';
      export async function load(url, context, next) {
        writeSync(1, url + String.fromCharCode(10));
        return next(url, context);
      }`;
    const script = `import { register } from 'node:module';
      register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hook))});
      await import('espalier/runtime');
      await import('espalier/workflow');`;
    const loaded = checked('node', ['--input-type=module', '--eval', script], consumer).split('\n');
    expect(loaded.some((url) => url.includes('/dist/src/runtime/'))).to.equal(true);
    expect(loaded.filter((url) => NOT_IN_OPERATORS.test(url) || url.includes('/src/cli/'))).to.deep.equal([]);
  });

  const operators = [
    ['an operator', 'web', [], 4],
    ['an operator of external resources', 'mailbox', ['--external'], 3],
  ] as const;
  for (const [what, name, options, tests] of operators)
    it(`creates ${what} that compiles without other packages, and whose tests pass`, () => {
      const project = join(folder, name);
      const made = espalier(['operators', 'new', name, ...options, '--to', project]);
      expect(made.status, made.stderr).to.equal(0);
      checked('npm', ['install', '--prefer-offline'], project);
      expect(bytesIn(join(project, 'node_modules'))).to.be.below(MAX_PROJECT_BYTES);
      // Everything that our declarations mention has to be installed as well.
      checked('node', ['node_modules/typescript/bin/tsc', '--noEmit', '--skipLibCheck', 'false'], project);
      expect(checked('npm', ['test'], project)).to.match(new RegExp(`^# pass ${tests}$`, 'm'));
    });

  it('creates a deployer that compiles, and whose tests pass', () => {
    const project = join(folder, 'dns');
    const made = espalier(['deployers', 'new', 'dns', '--to', project]);
    expect(made.status, made.stderr).to.equal(0);
    checked('npm', ['install', '--prefer-offline'], project);
    expect(bytesIn(join(project, 'node_modules'))).to.be.below(MAX_PROJECT_BYTES);
    const env = { PATIENCE_MS: String(PATIENCE_MS) };
    expect(checked('npm', ['test'], project, env)).to.match(/^# fail 0$/m);
  });

  describe('its program', () => {
    let kubeconfig: Kubeconfig;
    before(async () => {
      const file = join(folder, 'kubeconfig');
      const main = join(consumer, 'node_modules/espalier/dist/src/cli/main.js');
      server = spawn(process.execPath, [main, 'dev', '--write-kubeconfig', file], { stdio: 'ignore' });
      await eventually('the kubeconfig is written', () => existsSync(file) || server?.exitCode !== null);
      kubeconfig = parseYaml(readFileSync(file, 'utf8')) as Kubeconfig;
    });

    /** Lists installations with another user. */
    function inspectAs(user: object) {
      const file = join(folder, 'kubeconfig-of-user');
      const users = [{ name: kubeconfig.users[0].name, user }];
      writeFileSync(file, JSON.stringify({ ...kubeconfig, users }));
      return espalier(['installations', 'inspect'], { KUBECONFIG: file });
    }

    it('refuses a user without credentials', () => {
      expect(inspectAs({ token: 'wrong' }).status).to.not.equal(0);
    });

    it('gets credentials from a command', () => {
      const { token } = kubeconfig.users[0].user;
      const apiVersion = 'client.authentication.k8s.io/v1';
      const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });
      const script = `console.log(${JSON.stringify(credential)})`;
      const exec = { apiVersion, command: process.execPath, args: ['-e', script], interactiveMode: 'Never' };
      const { status, stdout, stderr } = inspectAs({ exec });
      expect([status, stderr], stdout).to.deep.equal([0, '']);
    });

    it('gets credentials from an auth provider', () => {
      const { token } = kubeconfig.users[0].user;
      const config = { 'access-token': token, expiry: '2999-01-01T00:00:00Z', 'cmd-path': process.execPath };
      const { status, stdout, stderr } = inspectAs({ 'auth-provider': { name: 'gcp', config } });
      expect([status, stderr], stdout).to.deep.equal([0, '']);
    });
  });
});

interface Bundled {
  readonly name: string;
  readonly version: string;
}

interface Kubeconfig {
  readonly users: readonly [{ readonly name: string; readonly user: { readonly token: string } }];
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
