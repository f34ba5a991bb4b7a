/** A new operator project, as its author has it before building the image: with an archive of this package. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './machine.ts';
import { folders } from './settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'dist/src/cli/main.js');

/** Writes it again into its folder. Needs the built package. */
export function writeOperatorProject(): void {
  const cwd = folders.operator;
  rmSync(cwd, { recursive: true, force: true });
  const versions = ['--versions', 'v1alpha1,v1', '--group', 'backups.example.org'];
  execute(process.execPath, [PROGRAM, 'operators', 'new', 'backup', ...versions, '--to', cwd]);
  const archive = execute('npm', ['pack', '--silent', '--pack-destination', cwd], { cwd: ROOT }).trim();
  execute('npm', ['install', '--package-lock-only', `./${archive}`], { cwd });
}
