/** What the build of the image removes, and that its bill of materials is the same in every build. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { skip } from '../../support/skip.ts';

const hack = join(import.meta.dirname, '../../../hack/image');

describe('the image', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-image-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('contains of each package only what Node.js loads', () => {
    const kept = [
      'a/package.json',
      'a/index.js',
      'a/lib/x.mjs',
      'a/LICENSE',
      'a/data.json',
      'test/package.json',
      'test/index.js',
      '@scope/tests/package.json',
      '@scope/tests/main.cjs',
    ];
    const removed = [
      'a/index.d.ts',
      'a/index.js.map',
      'a/README.md',
      'a/src/x.ts',
      'a/test/x.js',
      'a/lib/x.d.mts',
    ];
    for (const file of [...kept, ...removed]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), '{}');
    }
    const { status, stdout } = spawnSync(process.execPath, [join(hack, 'prune.mjs'), folder], {
      encoding: 'utf8',
    });
    expect([status, stdout]).to.deep.equal([0, `${folder}: 0.0 MB deleted that Node.js does not load\n`]);
    expect(kept.filter((file) => !existsSync(join(folder, file)))).to.deep.equal([]);
    expect(removed.filter((file) => existsSync(join(folder, file)))).to.deep.equal([]);
  });

  interface Sbom {
    readonly serialNumber: string;
    readonly components: readonly { readonly name: string; readonly scope: string }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  }

  /** The bill of a product that needs a package, bundles the others, and has a tool for development. */
  function printed(timestamp: string, bundled: readonly string[]) {
    const file = join(folder, 'bundled.json');
    writeFileSync(file, JSON.stringify(bundled.map((name) => ({ name, version: '1.0.0' }))));
    const development = [{ name: 'cdx:npm:package:development', value: 'true' }];
    const component = (name: string) => ({ name, 'bom-ref': `${name}@1.0.0`, scope: 'optional' });
    return spawnSync(process.execPath, [join(hack, 'sbom.mjs'), file], {
      encoding: 'utf8',
      input: JSON.stringify({
        serialNumber: `urn:uuid:${timestamp}`,
        metadata: { timestamp, component: { 'bom-ref': 'product@1.0.0' } },
        components: [
          { ...component('needed'), properties: [] },
          { ...component('part'), properties: development },
          { ...component('tool'), properties: development },
        ],
        dependencies: [
          { ref: 'product@1.0.0', dependsOn: ['needed@1.0.0', 'part@1.0.0', 'tool@1.0.0'] },
          { ref: 'tool@1.0.0', dependsOn: ['part@1.0.0'] },
        ],
      }),
    });
  }

  it('has a bill of materials that depends only on the packages', () => {
    const first = printed('2026-01-01T00:00:00Z', ['part']).stdout;
    expect(printed('2026-02-02T00:00:00Z', ['part']).stdout).to.equal(first);
    expect(printed('2026-01-01T00:00:00Z', []).stdout).to.not.equal(first);
    expect((JSON.parse(first) as Sbom).serialNumber).to.match(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('has a bill of materials with the packages that it needs or bundles, without tools', () => {
    const { components, dependencies } = JSON.parse(printed('2026-01-01T00:00:00Z', ['part']).stdout) as Sbom;
    expect(components.map(({ name, scope }) => [name, scope])).to.deep.equal([
      ['needed', 'required'],
      ['part', 'required'],
    ]);
    expect(dependencies).to.deep.equal([{ ref: 'product@1.0.0', dependsOn: ['needed@1.0.0', 'part@1.0.0'] }]);
    const { status, stderr } = printed('2026-01-01T00:00:00Z', ['other']);
    expect([status, stderr]).to.deep.equal([
      1,
      'error: npm sbom does not list bundled packages: other@1.0.0\n',
    ]);
  });
});

describe('the libraries of the image', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(hack, 'libraries.mjs'), ...args], { encoding: 'utf8' });
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-libraries-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('are those that the dynamic linker loads', function () {
    const program = realpathSync(process.execPath);
    const ldd = spawnSync('ldd', [program], { encoding: 'utf8' });
    if (ldd.status !== 0) skip(this, 'there is no ldd');
    const { status, stdout, stderr } = run('/', folder, program);
    expect(status, stderr).to.equal(0);
    const loaded = [...ldd.stdout.matchAll(/(?:=> )?(\/\S+) \(/g)].map(([, path = '']) => path);
    expect(stdout.trim().split('\n')).to.have.members([program, ...loaded]);
    for (const path of loaded) expect(existsSync(join(folder, path)), path).to.equal(true);
  });

  it('are refused for another architecture', () => {
    const program = realpathSync(process.execPath);
    const [own, other] = process.arch === 'arm64' ? ['arm64', 'amd64'] : ['amd64', 'arm64'];
    expect(run('/', folder, program, own ?? '').stderr).to.equal('');
    expect(run('/', folder, program, other ?? '').stderr).to.contain(`is not a program for ${other ?? ''}`);
  });

  it('name what is missing, or what is not a program', () => {
    expect(run(folder, folder, '/node').stderr).to.contain(`${folder} has no /node`);
    writeFileSync(join(folder, 'node'), '#!/bin/sh\n'.padEnd(100));
    const other = join(folder, 'other');
    expect(run(folder, other, '/node').stderr).to.contain('/node is not a little-endian ELF file');
  });
});
