/** `espalier deployitems left-behind forget`: drops the record of objects on other clusters. */
import { withNamed } from '../../../named-objects.ts';
import { equal } from '../../../../lib/json.ts';
import type { LeftBehind } from '../../../../api/left-behind.ts';
import type { NamespacedOptions } from '../../../cluster.ts';
import { CommandError, exitCodes, UsageError } from '../../../errors.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import { changeEntries, entriesOf, itemNamed, linesOf } from './entries.ts';

export interface ForgetOptions extends NamespacedOptions {
  /** Uid. */
  readonly cluster?: string;
  readonly yes?: true;
}

export async function forgetLeftBehind(
  printed: string,
  options: ForgetOptions,
  terminal: Terminal,
): Promise<number> {
  return withNamed(
    printed,
    options,
    terminal,
    async (cluster, name) => {
      const entries = entriesOf(await itemNamed(cluster, name));
      const chosen = entries.filter((entry) => isChosen(entry, options));
      if (chosen.length === 0) {
        const known = entries.flatMap((entry) => entry.cluster?.uid ?? []).join(', ');
        throw new UsageError(
          `--cluster ${options.cluster ?? ''}: no objects of deploy item ${name} stay there; they stay on: ${known || 'older clusters'}`,
        );
      }
      for (const entry of chosen) for (const line of linesOf(entry)) terminal.print(line);
      if (!options.yes) await confirm(name, terminal);
      // Only what the user has seen.
      await changeEntries(cluster, name, (entry) =>
        chosen.some((one) => equal(one, entry)) ? undefined : entry,
      );
      terminal.print(`deploy item ${name} no longer records these objects; they were not deleted`);
      return exitCodes.ok;
    },
    'installations and deploy items',
  );
}

const isChosen = ({ cluster }: LeftBehind, options: ForgetOptions): boolean =>
  options.cluster === undefined || cluster?.uid === options.cluster;

/** @throws UsageError without a terminal, CommandError if the user does not confirm */
async function confirm(name: string, terminal: Terminal): Promise<void> {
  const answer = await terminal.ask(
    'Drops the record of these objects, and deletes nothing. Type the name of the deploy item to continue: ',
  );
  if (answer === undefined)
    throw new UsageError('cannot ask for confirmation without a terminal; check the list, then add --yes');
  if (answer.trim() !== name) throw new CommandError('not confirmed, nothing was changed');
}
