/** Command line of the real control plane for tests. Exit code 3: not available, the reason is printed. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEnvtest } from '../../test/support/envtest.ts';
import { EnvtestUnavailable, ensureBinaries, findBinaries } from './binaries.ts';

const USAGE = `usage: main.ts build                                        builds missing binaries, prints the folder
       main.ts path                                         prints the folder of the binaries
       main.ts run --kubeconfig-out FILE [--audit-log FILE] serves until SIGTERM or SIGINT`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(kubeconfigOut: string, auditLog: string | undefined): Promise<void> {
  ensureBinaries(say);
  const stopping = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const server = await startEnvtest(auditLog === undefined ? {} : { auditLog: resolve(auditLog) });
  try {
    writeFileSync(kubeconfigOut, server.kubeconfig, { mode: 0o600 });
    print(`ready: ${server.url}, kubeconfig in ${kubeconfigOut}`);
    await stopping;
  } finally {
    await server.stop();
    rmSync(kubeconfigOut, { force: true });
  }
}

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'kubeconfig-out': { type: 'string' }, 'audit-log': { type: 'string' } },
  });
  switch (positionals[0]) {
    case 'build':
      print(dirname(ensureBinaries(say).apiserver));
      return 0;
    case 'path': {
      const found = findBinaries();
      if (!found)
        throw new EnvtestUnavailable('kube-apiserver and etcd are not built yet: run the command "build"');
      print(dirname(found.apiserver));
      return 0;
    }
    case 'run':
      if (values['kubeconfig-out'] === undefined) break;
      await run(values['kubeconfig-out'], values['audit-log']);
      return 0;
    case undefined:
    default:
  }
  say(USAGE);
  return 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof EnvtestUnavailable)) throw error;
  say(error.message);
  process.exitCode = 3;
}
