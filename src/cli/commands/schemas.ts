/** `espalier schemas`: lists and prints the JSON Schemas for editors. */
import { closest } from '../../lib/closest.ts';
import { largest } from '../../lib/lists.ts';
import { UsageError } from '../errors.ts';
import { schemas } from '../schemas/catalogue.ts';
import { printJson } from '../terminal/documents.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { selfCommand } from '../self-command.ts';

export function printSchemas(name: string | undefined, terminal: Terminal): void {
  if (name === undefined) {
    const width = largest(schemas.map((entry) => entry.name.length));
    for (const entry of schemas) terminal.print(`${entry.name.padEnd(width)}  ${entry.about}`);
    return;
  }
  const found = schemas.find((entry) => entry.name === name.toLowerCase());
  if (!found) throw new UsageError(unknownName(name));
  terminal.print(printJson(found.schema));
}

function unknownName(name: string): string {
  const meant = closest(
    name,
    schemas.map((entry) => entry.name),
  );
  const hint =
    meant === undefined ? `"${selfCommand()} schemas" lists all names` : `did you mean "${meant}"?`;
  return `there is no schema "${name}"; ${hint}`;
}
