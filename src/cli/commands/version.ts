/** `espalier version`: prints the version; needs no cluster. */
import { API_VERSION } from '../../api/labels.ts';
import { packageInfo, versionText } from '../package.ts';
import { printValue } from '../terminal/documents.ts';
import type { ReportFormat } from '../terminal/output-option.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function version(options: { readonly output: ReportFormat }, terminal: Terminal): void {
  const facts = {
    version: packageInfo().version,
    node: process.version,
    platform: `${process.platform}/${process.arch}`,
    api: API_VERSION,
  };
  terminal.print(options.output === 'text' ? versionText() : printValue(facts, options.output));
}
