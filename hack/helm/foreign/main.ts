/** Compares a folder of foreign files with the originals, and prints a table. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { GoUnavailable } from '../../go/build.ts';
import { openOracle } from '../../go-oracle/oracle.ts';
import { ensureHelm } from '../binary.ts';
import { compareCharts } from './charts.ts';
import { compareDefinitions } from './crds.ts';
import { compareKubeconfigs, hasKubectl } from './kubeconfigs.ts';
import { compareSpiffFiles } from './spiff.ts';
import { isSame, tableOf, type NamedFile, type Row } from './table.ts';

const HELP = `Compares charts and releases with the real helm, which is built once and needs Go.

  make test-helm [ARGS="…"]

ARGS   --record             write the output of helm to the fixtures of the tests
       --charts DIR         render each chart below DIR, also with each file in its folder ci, and compare with helm
       --crds DIR           create each CustomResourceDefinition below DIR, and generated objects, and compare with kube-apiserver
       --kubeconfigs DIR    read each file below DIR, and compare with kubectl
       --spiff DIR          evaluate each file below DIR, and compare with the original Spiff

With a folder, only its files are compared. The result is a table of files, verdicts and first differences. Documents that helm
itself renders in another way each time are left out. Messages of errors are not compared.

Exit code 0: no difference; 1: a difference, or no files; 3: the original is not available, nothing was compared.
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

const filesBelow = (folder: string): readonly NamedFile[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path, name: relative(folder, path) }));

/** @returns the exit code; undefined if the arguments name no folder. @throws GoUnavailable */
export async function compareFolders(args: readonly string[]): Promise<number | undefined> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      charts: { type: 'string' },
      crds: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      kubeconfigs: { type: 'string' },
      record: { type: 'boolean', default: false },
      spiff: { type: 'string' },
    },
  });
  const { charts, crds, kubeconfigs, spiff } = values;
  if (values.help) say(HELP.trimEnd());
  if (values.help) return 0;
  if ([charts, crds, kubeconfigs, spiff].every((folder) => folder === undefined)) return undefined;
  const rows: Row[] = [];
  const done = (row: Row): void => void rows.push(row);
  if (charts !== undefined) await compareCharts(ensureHelm(progress), charts, done);
  if (crds !== undefined) await compareDefinitions(filesBelow(crds), done);
  if (kubeconfigs !== undefined) {
    if (!hasKubectl()) throw new GoUnavailable('kubectl is needed on the PATH');
    await compareKubeconfigs(filesBelow(kubeconfigs), done);
  }
  if (spiff !== undefined) compareSpiffFiles(openOracle(progress), filesBelow(spiff), done);
  say(tableOf(rows));
  return rows.length > 0 && rows.every(isSame) ? 0 : 1;
}
