/** `espalier crds`: prints our CustomResourceDefinitions. */
import { loadCrds } from '../../api/crds.ts';
import { printJson, printYaml } from '../terminal/documents.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function crds(options: { readonly output: 'yaml' | 'json' }, terminal: Terminal): void {
  const items = loadCrds();
  terminal.print(
    options.output === 'json' ? printJson({ apiVersion: 'v1', kind: 'List', items }) : printYaml(items),
  );
}
