/** Executes the commands in docs/components.md exactly as printed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readConfiguration } from '../../../src/cli/configuration/configuration.ts';
import { parseYaml, parseYamlAll } from '../../../src/lib/yaml.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { TestRegistry } from '../../support/registry.ts';

const root = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/components.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);

const folder = mkdtempSync(join(tmpdir(), 'espalier-docs-'));
symlinkSync(join(root, 'docs'), join(folder, 'docs'));
const [configuration = '', context = ''] = blocks('yaml');
writeFileSync(join(folder, 'config.yaml'), configuration);

/** Runs the command of a block with the program of this working copy. */
async function run(block: string): Promise<string> {
  const [program, ...args] = block.trim().split(' ');
  expect(program).to.equal('espalier');
  const command = [
    '--import',
    join(root, 'node_modules/tsx/dist/esm/index.mjs'),
    join(root, 'src/cli/main.ts'),
    ...args,
  ];
  const env = { ...process.env, DOCKER_CONFIG: folder };
  return (await promisify(execFile)(process.execPath, command, { cwd: folder, env })).stdout;
}

describe('docs/components.md', () => {
  const settings = readConfiguration(join(folder, 'config.yaml')).registry;
  const here = useCluster({ config: { registry: { ...settings, allowPlainHttp: true } } });
  const [pack = '', push = ''] = blocks('sh');
  const sample = parseYamlAll(
    readFileSync(join(root, 'docs/samples/hello-component/installation.yaml'), 'utf8'),
  ) as Obj[];
  const greetingAfter = async (objects: readonly Obj[]): Promise<unknown> => {
    const scene = await here.scene();
    for (const object of objects) await scene.create(object);
    await scene.finished('hello', 'Succeeded');
    expect(scene.dataObject('image')?.data).to.equal('registry.example.org/hello:1.0.0');
    return scene.dataObject('greeting')?.data;
  };
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('explains how to pack the sample and to install it from the archive', async () => {
    expect(await run(pack)).to.contain('example.org/hello:1.0.0 with 3 resources');
    expect(await greetingAfter(sample)).to.equal('Hello, world!');
  }).timeout(60_000);

  it('explains how to push it to a registry and to install it from there', async () => {
    const registry = await TestRegistry.start();
    try {
      const here_ = (text: string): string => text.replaceAll('localhost:5000', registry.address);
      await run(here_(push));
      const { repositoryContext } = parseYaml(here_(context)) as {
        repositoryContext: Record<string, unknown>;
      };
      const objects = structuredClone(sample);
      (objects[1] as Installation).spec.componentDescriptor!.ref!.repositoryContext = repositoryContext;
      expect(await greetingAfter(objects)).to.equal('Hello, world!');
      expect(registry.requests(/manifests/, 200).length).to.be.greaterThan(0);
    } finally {
      await registry.stop();
    }
  }).timeout(60_000);
});
