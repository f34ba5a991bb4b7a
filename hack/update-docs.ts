/** Writes the generated files of docs; with --check only reports whether they are up to date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rulesFile } from './docs/alerts.ts';
import { boardFile, boards } from './docs/boards.ts';
import { cliPage } from './docs/cli.ts';
import { configurationPage } from './docs/configuration.ts';
import { fieldsPage } from './docs/fields.ts';
import { deviationsPage } from './docs/deviations.ts';
import { phasesPage } from './docs/phases.ts';
import { referencePages, Unpublishable } from './docs/reference.ts';
import { mutationPage } from './mutate/page.ts';

const root = join(import.meta.dirname, '..');
/** A chart can contain only files of its own folder, so it has copies. */
const rulesFiles = ['docs/observability/rules.yaml', 'charts/espalier/files/rules.yaml'];
const boardFolders = ['docs/observability', 'charts/espalier/files/dashboards'];
const pages: Readonly<Record<string, string>> = {
  'docs/cli.md': cliPage(),
  'docs/configuration.md': configurationPage(root),
  ...Object.fromEntries(
    boardFolders.flatMap((folder) => boards.map((board) => [`${folder}/${board.file}`, boardFile(board)])),
  ),
  ...Object.fromEntries(rulesFiles.map((file) => [file, rulesFile()])),
  'docs/deviations.md': deviationsPage(),
  'docs/fields.md': fieldsPage(root),
  'docs/mutation.md': mutationPage(),
  'docs/phases.md': phasesPage(root),
  ...(await reference()),
};
const isCheck = process.argv.includes('--check');

for (const [page, text] of Object.entries(pages)) {
  const file = join(root, page);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (isCheck) {
    process.stdout.write(`${page} is out of date: run "make generate"\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote ${page}\n`);
  }
}

/** The reference pages; fails without writing them if an export is not documented. */
async function reference(): Promise<Readonly<Record<string, string>>> {
  try {
    return await referencePages(root);
  } catch (error) {
    if (!(error instanceof Unpublishable)) throw error;
    process.stdout.write(`${error.message}\n`);
    process.exitCode = 1;
    return {};
  }
}
