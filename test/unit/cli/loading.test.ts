/** Which packages a command loads before it does anything: loading takes most of the time of a short command. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const cli = join(import.meta.dirname, '../../../src/cli');
/** Imports and exports from other modules, except for those of types alone. */
const FROM = /^(?:import|export)(?! type\b)[^;'"]*?\bfrom '([^']+)';/gm;

/** The packages that a file and the files it imports load, without those of dynamic imports. */
function packagesOf(file: string): readonly string[] {
  const packages = new Set<string>();
  const files = new Set([join(cli, file)]);
  for (const each of files)
    for (const [, name = ''] of readFileSync(each, 'utf8').matchAll(FROM)) {
      if (name.startsWith('.')) files.add(join(dirname(each), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  return [...packages].sort();
}

describe('packages that are loaded by', () => {
  for (const [what, file, packages] of [
    ['every command and each help page', 'main.ts', ['commander', 'picocolors']],
    ['installations inspect', 'commands/installations/inspect.ts', []],
    ['installations reconcile', 'commands/installations/operation.ts', []],
    ['installations force-delete', 'commands/installations/force-delete.ts', []],
  ] as const)
    it(`${what}: ${packages.join(', ') || 'none'}`, () => {
      expect(packagesOf(file)).to.deep.equal(packages);
    });

  it('plan: none of those for servers', () => {
    const servers = ['fastify', 'pino', 'prom-client', 'undici'];
    expect(packagesOf('commands/plan/plan.ts').filter((name) => servers.includes(name))).to.deep.equal([]);
    expect(packagesOf('commands/servers/start.ts')).to.include('prom-client');
  });
});
