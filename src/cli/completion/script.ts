/** Pieces of shell scripts that more than one shell understands. */
import type { CompletedCommand, CompletedOption, Values } from './model.ts';
import { allOf } from './model.ts';

/** The names under which the program is called. */
export const PROGRAMS = ['espalier', 'kubectl-espalier'];

/** For all shells but fish, which knows `\'` inside of quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The first sentence on one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** `words:text json`, `files`, `folders` or `text`. */
export const codeOf = (values: Values): string =>
  values.is === 'words' ? `words:${values.words.join(' ')}` : values.is;

/** Rows for a `case` over the command so far and the next word: where the next word leads. */
export const stepRows = (root: CompletedCommand): readonly string[] =>
  allOf(root).flatMap(({ path, commands }) =>
    commands.map((command) => {
      const words = command.names.map((name) => quoted(`${path} ${name}`)).join('|');
      return `${words}) at=${quoted(command.path)} ;;`;
    }),
  );

/** Rows for a `case` over command and option: what the option waits for. */
export const valueRows = (root: CompletedCommand): readonly string[] =>
  allOf(root).flatMap(({ path, options }) =>
    options.flatMap(({ flags, values }: CompletedOption) =>
      values === undefined
        ? []
        : [
            `${flags.map((flag) => quoted(`${path} ${flag}`)).join('|')}) awaits=${quoted(codeOf(values))} ;;`,
          ],
    ),
  );

export const indented = (rows: readonly string[], by: number): string =>
  rows.map((row) => `${' '.repeat(by)}${row}`).join('\n');
