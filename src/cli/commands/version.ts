/** `espalier version`: prints the version; needs no cluster. */
import { API_VERSION } from '../../api/labels.ts';
import { printJson } from '../terminal/documents.ts';
import { UsageError } from '../errors.ts';
import { packageInfo, versionText } from '../package.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function version(options: { readonly output: string }, terminal: Terminal): void {
  const facts = {
    version: packageInfo().version,
    node: process.version,
    platform: `${process.platform}/${process.arch}`,
    api: API_VERSION,
  };
  switch (options.output) {
    case 'text':
      terminal.print(versionText());
      return;
    case 'json':
      terminal.print(printJson(facts));
      return;
    default:
      throw new UsageError(`there is no output format "${options.output}"; choose text or json`);
  }
}
