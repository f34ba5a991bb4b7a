/** Reads the CRD files of a chart. */
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import type { CrdFile } from './chart.ts';
import { documentsOf } from './documents.ts';

/** An object of a CRD file, or the error of its document. */
export type Definition = { readonly document: unknown } | { readonly problem: string };

export const definitionsIn = ({ source, content }: CrdFile): readonly Definition[] =>
  documentsOf(content).map((text) => definition(source, text));

function definition(source: string, text: string): Definition {
  try {
    return { document: parseYaml(text, { integers: 'exact' }) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problem: `YAML parse error on ${source}: ${error.message}` };
  }
}
