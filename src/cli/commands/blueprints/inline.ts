/** `espalier blueprints inline`: prints installations with the blueprints of their folders. */
import { printYaml } from '../../terminal/documents.ts';
import { CommandError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { refuse } from '../apply/problems.ts';
import { isInstallation, prepare } from '../apply/prepare.ts';

export interface InlineOptions {
  readonly lint: boolean;
}

/** Other objects in the files are left out. @throws CommandError if a file is invalid, or has no installation */
export async function inline(
  paths: readonly string[],
  options: InlineOptions,
  terminal: Terminal,
): Promise<void> {
  const { documents, problems } = await prepare(paths, options);
  refuse(problems, terminal, 'nothing was printed');
  const installations = documents.map(({ object }) => object).filter(isInstallation);
  if (installations.length === 0) throw new CommandError(`there is no Installation in ${paths.join(', ')}`);
  terminal.print(printYaml(installations));
}
