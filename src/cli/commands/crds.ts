/** `espalier crds`: prints our CustomResourceDefinitions. */
import { loadCrds } from '../../api/crds.ts';
import { printObjects } from '../terminal/documents.ts';
import type { ObjectFormat } from '../terminal/output-option.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function crds(format: ObjectFormat, terminal: Terminal): void {
  terminal.print(printObjects(loadCrds(), format));
}
