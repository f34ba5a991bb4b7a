/** `espalier crds`: prints our CustomResourceDefinitions. */
import { loadCrds } from '../../api/crds.ts';
import { printObjects, type MachineFormat } from '../terminal/documents.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function crds(format: MachineFormat, terminal: Terminal): void {
  terminal.print(printObjects(loadCrds(), format));
}
