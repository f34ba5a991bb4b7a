/** Where the engine meets YAML: texts become values with integers and doubles told apart. */
import { parseYamlAll, YamlError } from '../../lib/yaml.ts';
import type { SpiffValue } from './value.ts';
import { fromJsonValue } from './json.ts';

/** A text is no YAML, or YAML that no document can be. */
export class SpiffYamlProblem extends Error {}

/** All documents of a text; an empty text is one that is null. @throws SpiffYamlProblem */
export function readDocuments(text: string): readonly SpiffValue[] {
  try {
    const documents = parseYamlAll(text, { integers: 'exact' });
    return (documents.length > 0 ? documents : [null]).map((document) => fromJsonValue(document, 'document'));
  } catch (error) {
    if (error instanceof YamlError) throw new SpiffYamlProblem(error.message, { cause: error });
    throw error;
  }
}
