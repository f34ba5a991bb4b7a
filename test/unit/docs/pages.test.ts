/** Compares what people wrote about the code with the code. */
import { mkdtempSync, readFileSync, readdirSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { defaults, readConfiguration } from '../../../src/cli/configuration/configuration.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((path) => join('docs', String(path))),
].filter((path) => path.endsWith('.md'));

/** As GitHub creates them: the second of the same name gets a number. */
function anchorsOf(text: string): string[] {
  const times = new Map<string, number>();
  return [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const plain = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = times.get(plain) ?? 0;
    times.set(plain, before + 1);
    return before === 0 ? plain : `${plain}-${String(before)}`;
  });
}

function brokenLinks(page: string): string[] {
  const text = read(page).replace(/^( {4}.*|```[^]*?^```)$/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(https?|mailto):/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(read(relative(root, target))).includes(anchor);
    });
}

/** First cells of all tables of a page, without their backticks. */
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);

describe('the pages', () => {
  for (const page of pages) {
    it(`have no broken links: ${page}`, () => {
      expect(brokenLinks(page)).to.deep.equal([]);
    });
  }

  it('are all in an index', () => {
    const indices = `${read('README.md')}${read('docs/README.md')}`;
    const top = readdirSync(join(root, 'docs')).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    expect(top.filter((name) => !indices.includes(name))).to.deep.equal([]);
    const records = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d/.test(name));
    expect(records.filter((name) => !read('docs/adr/README.md').includes(name))).to.deep.equal([]);
  });

  it('name targets that make has', () => {
    const targets = [...read('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name);
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/^ {4}make ([a-z-]+)|`make ([a-z-]+)/gm)].map(([, a, b]) => a ?? b),
    );
    expect(named).to.include('run');
    expect(named.filter((name) => !targets.includes(name))).to.deep.equal([]);
  });

  it('and scripts that npm has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read('Makefile').matchAll(/\$\(NPM\) run (?:--\S+ )*([a-z-]+)/g)].map(
      ([, name]) => name,
    );
    expect(named).to.include('check');
    expect(named.filter((name) => name === undefined || !(name in scripts))).to.deep.equal([]);
  });
});

describe('the page about packages', () => {
  const [, installed = '', bundled = '', forDevelopment = ''] =
    read('docs/dependencies.md').split(/^## .*$/m);

  it('has a line for each package, and no other', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as {
      dependencies: object;
      devDependencies: object;
    };
    expect(firstCells(installed)).to.deep.equal(Object.keys(dependencies).sort());
    const others = [...firstCells(bundled), ...firstCells(forDevelopment)];
    expect(others.sort()).to.deep.equal(Object.keys(devDependencies).sort());
  });

  it('says which packages the program imports', () => {
    const imported = ['src', 'controllers', 'deployers']
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))),
      )
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...read(path).matchAll(/(?: from |import\()'((?:@[\w-]+\/)?[\w-]+)(?:\/[^']*)?'/g)])
      .map(([, name = '']) => name);
    const named = [...firstCells(installed), ...firstCells(bundled)];
    expect([...new Set(imported)].sort()).to.deep.equal(named.sort());
  });
});

describe('the page about the configuration', () => {
  const page = read('docs/configuration.md');
  const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';

  it('has a valid example that sets nearly every field', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-docs-'));
    const file = join(folder, 'config.yaml');
    writeFileSync(file, example);
    const { targetsync, ...workers } = readConfiguration(file).workers;
    const { workers: _, ...rest } = readConfiguration(file);
    rmSync(folder, { recursive: true });
    expect(targetsync).to.equal(defaults.workers.targetsync);
    expect(workers).to.deep.equal({ installation: 50, execution: 40, deployitem: 10, context: 2 });
    const image = 'registry.example.org/espalier:0.1.0';
    expect(rest).to.deep.equal({
      hasReadyConditions: false,
      readiness: 'landscaper',
      allowsSecretsInNames: true,
      isStrict: true,
      limits: {
        ...defaults.limits,
        treeDepth: 40,
        treeObjects: 20_000,
        deployItems: 20_000,
        remoteRetryMs: 1_800_000,
        responses: { targetResponseMiB: 32, targetResponseDepth: 800, hostResponseMiB: 96, downloadMiB: 48 },
      },
      container: {
        ...defaults.container,
        namespace: 'ls-system',
        init: { ...defaults.container.init, image },
        wait: { ...defaults.container.wait, image },
      },
      pickupTimeoutMs: 600_000,
      installsCrds: false,
      helm: { executable: '/usr/local/bin/helm', cacheBytes: 50_000_000, staticCapabilities: true },
      templating: { limits: { timeoutMs: 20_000 }, workers: 2 },
      registry: { localRoot: '/var/lib/espalier/components', cacheBytes: 134_217_728 },
      contexts: {
        excludedNamespaces: ['kube-system'],
        repositoryContext: { type: 'ociRegistry', baseUrl: 'registry.example.org/components' },
      },
      health: {
        namespace: 'ls-system',
        name: 'landscaper',
        deployments: [
          'landscaper-controller',
          'landscaper-controller-main',
          'landscaper-webhooks',
          'my-deployer',
        ],
      },
    });
  });

  it('names the defaults', () => {
    const defaultOf = (key: string): string =>
      new RegExp(`^\\| \`${key.replaceAll('.', '\\.')}\` \\|.*\\| ([^|]*) \\|$`, 'm').exec(page)?.[1] ?? '';
    expect(defaultOf('controllers.installations.workers')).to.equal(String(defaults.workers.installation));
    expect(defaultOf('controllers.executions.workers')).to.equal(String(defaults.workers.execution));
    expect(defaultOf('controllers.deployItems.workers')).to.equal(String(defaults.workers.deployitem));
    expect(defaultOf('controllers.contexts.workers')).to.equal(String(defaults.workers.context));
    expect(defaultOf('deployItemTimeouts.pickup')).to.equal(`\`${defaults.pickupTimeoutMs / 60_000}m\``);
  });
});
