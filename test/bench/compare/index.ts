/**
 * `make bench ARGS="compare --base COMMIT"`: the built product of another commit and of this checkout, by turns, each in its own process
 * on a new server of this checkout, with one load. Only the product differs.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { findBinaries } from '../../../hack/envtest/binaries.ts';
import { embedded, real, type Server } from '../servers.ts';
import { buildBase } from './base.ts';
import { counted, measured, type Figures } from './measure.ts';
import { table, type Round } from './table.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Above this load average, other programs distort processor time. */
const QUIET_LOAD = 2;

export interface CompareOptions {
  readonly base: string;
  readonly rounds: number;
  readonly trees: number;
  /** Undefined: on a kube-apiserver too if it is built. */
  readonly envtest: boolean | undefined;
}

export async function benchCompare({ base: name, rounds, trees, envtest }: CompareOptions): Promise<void> {
  const base = buildBase(name, console.log);
  const isBuilt = findBinaries() !== undefined;
  const servers = (envtest ?? isBuilt) ? [embedded, real] : [embedded];
  const [load = 0] = loadavg();
  console.log(
    `comparing this checkout with ${base.commit}: ${rounds} rounds of ${trees} trees; load average ${load.toFixed(1)}`,
  );
  if (load > QUIET_LOAD)
    console.log(
      'other programs use the processors: times vary much, and only writes, bytes and counted code are exact',
    );
  if (envtest === undefined && !isBuilt)
    console.log('only on the embedded API server: kube-apiserver is not built (make programs ARGS=envtest)');

  /** A new server for each product, so that it has only what this product needs. */
  const onNewServer = async (
    start: () => Promise<Server>,
    use: (server: Server) => Promise<Figures>,
  ): Promise<Figures> => {
    const server = await start();
    return use(server).finally(() => server.stop());
  };
  const print = (title: string, results: readonly Round[]): void => {
    console.log(`\n${title}\nratio: now / base, so less than 1 is better\n`);
    console.log(table(results, base.commit).join('\n'));
  };

  for (const server of servers) {
    const results: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      const of = (side: string, folder: string): Promise<Figures> =>
        onNewServer(server, (started) => {
          const say = progress(`${started.name}, round ${round} of ${rounds}, ${side}`);
          return measured(started, folder, { trees, say });
        });
      const ofBase = await of(`base ${base.commit}`, base.folder);
      results.push({ base: ofBase, now: await of('now', ROOT) });
    }
    const where = server === embedded ? 'embedded API server' : 'kube-apiserver';
    print(`On the ${where}, medians of ${rounds} rounds`, results);
  }

  const code = (side: string, folder: string): Promise<Figures> =>
    onNewServer(embedded, (server) => counted(server, folder, progress(`counting code, ${side}`)));
  const ofBase = await code(`base ${base.commit}`, base.folder);
  print('Code of the controllers, counted: other programs on the machine hardly change it', [
    { base: ofBase, now: await code('now', ROOT) },
  ]);
}

/** One line that changes, on a terminal; else a line for each step. */
function progress(prefix: string): (step: string) => void {
  const { stderr } = process;
  return (step) => {
    const text = `${prefix}: ${step}`;
    stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  };
}
