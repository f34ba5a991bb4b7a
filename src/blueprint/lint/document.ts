/** Rules about the documents themselves: that they are YAML, of the right kind, and that somebody reads their fields. */
import type { z } from 'zod';
import {
  blueprint as blueprintSchema,
  BLUEPRINT_FILE,
  BLUEPRINT_KIND,
  installationTemplate,
  INSTALLATION_TEMPLATE_KIND,
} from '../../api/blueprint.ts';
import { API_VERSION } from '../../api/labels.ts';
import { closest } from '../../lib/closest.ts';
import { isObject } from '../../lib/objects.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { typeName } from '../decode.ts';
import type { Finding, RuleFacts } from './finding.ts';
import { misfits } from './shape.ts';
import type { Place, Source } from './source.ts';
import { YamlText } from './yaml-text.ts';

export const documentRules = {
  'yaml-syntax': { level: 'error', about: 'a file that is no YAML' },
  'wrong-kind': { level: 'error', about: 'an `apiVersion` or `kind` that says the file is something else' },
  'blueprint-missing': { level: 'error', about: 'an inline blueprint without a text `blueprint.yaml`' },
  'blueprint-empty': { level: 'warning', about: 'a blueprint with nothing in it: it does nothing' },
  'installation-invalid': { level: 'error', about: 'an Installation that no controller would work with' },
  'wrong-type': { level: 'error', about: 'a list where a text should be, and the like' },
  'duplicate-key': { level: 'warning', about: 'a field that is there twice: the last one wins' },
  'unknown-field': { level: 'warning', about: 'a field that nobody reads, often a slip of the pen' },
  'field-capitals': { level: 'warning', about: 'a field whose capitals are wrong; it is read all the same' },
} as const satisfies Readonly<Record<string, RuleFacts>>;
type RuleName = keyof typeof documentRules;

const finding = (rule: RuleName, place: Place, message: string): Finding => ({
  rule,
  level: documentRules[rule].level,
  place,
  message,
});

/** What was read; without a value there is nothing to look at any further. */
export interface Read {
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly findings: readonly Finding[];
}

/** Reads a document, first one of the text. */
export function readDocument(source: Source, schema: z.ZodType, kind: string): Read {
  let value: unknown;
  try {
    value = parseYaml(source.text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { value: undefined, findings: [noYaml(source, error)] };
  }
  return checkDocument(YamlText.of(source), value, schema, kind);
}

/** The same for one that is part of another document. */
export function checkDocument(document: YamlText, value: unknown, schema: z.ZodType, kind: string): Read {
  if (value === null && kind === BLUEPRINT_KIND) {
    const message = 'the blueprint is empty, so it does nothing';
    return { value: undefined, findings: [finding('blueprint-empty', document.at([]), message)] };
  }
  const repeated = document
    .repeatedKeys()
    .map(({ key, place }) =>
      finding('duplicate-key', place, `"${key}" is here a second time; the last one wins`),
    );
  if (!isObject(value)) {
    const message = `expected ${article(kind)} ${kind}, found ${typeName(value)}`;
    return { value: undefined, findings: [finding('wrong-kind', document.at([]), message)] };
  }
  const wrongKind = kindFindings(document, value, kind);
  if (wrongKind.length > 0) return { value: undefined, findings: wrongKind };
  const shape = shapeFindings(document, value, schema);
  const isUsable = shape.every(({ rule }) => rule !== 'wrong-type');
  return { value: isUsable ? value : undefined, findings: [...repeated, ...shape] };
}

const article = (word: string): string => (/^[aeiou]/i.test(word) ? 'an' : 'a');

/** Templates of installations may leave both out; a blueprint may not. */
function kindFindings(
  document: YamlText,
  value: Readonly<Record<string, unknown>>,
  kind: string,
): readonly Finding[] {
  const isOptional = kind === INSTALLATION_TEMPLATE_KIND;
  return Object.entries({ apiVersion: API_VERSION, kind }).flatMap(([field, wanted]) => {
    const found = value[field];
    if (found === wanted || (found === undefined && isOptional)) return [];
    if (found === undefined) {
      return [
        finding('wrong-kind', document.at([]), `the field "${field}" is missing; write ${field}: ${wanted}`),
      ];
    }
    const meant =
      closest(JSON.stringify(found).replaceAll('"', ''), [wanted]) === undefined
        ? ''
        : ', a slip of the pen?';
    const message = `${field} is ${JSON.stringify(found)} instead of ${wanted}${meant}`;
    return [finding('wrong-kind', document.at([field]), message)];
  });
}

/** @param at where it should be */
export const missingBlueprint = (at: Place): Finding =>
  finding('blueprint-missing', at, `there is no text "${BLUEPRINT_FILE}" at the top of the blueprint`);

export const invalidInstallation = (at: Place, refusal: string): Finding =>
  finding('installation-invalid', at, `no controller works with this installation: ${refusal}`);

export const noYaml = (source: Source, error: YamlError): Finding => {
  const place = error.line === undefined ? source.place(0) : source.placeOfLine(error.line - 1);
  const why = error.message.replace(/^yaml: (line \d+: )?/, '');
  return finding('yaml-syntax', place, `this is no YAML: ${why}`);
};

export function shapeFindings(document: YamlText, value: unknown, schema: z.ZodType): readonly Finding[] {
  return misfits(schema, value).map(({ kind, path, message }) => {
    const rule = ({ unknown: 'unknown-field', capitals: 'field-capitals', type: 'wrong-type' } as const)[
      kind
    ];
    return finding(rule, document.at(path, kind === 'type' ? 'value' : 'key'), message);
  });
}

export const readBlueprint = (source: Source): Read => readDocument(source, blueprintSchema, BLUEPRINT_KIND);

export const readTemplate = (source: Source): Read =>
  readDocument(source, installationTemplate, INSTALLATION_TEMPLATE_KIND);
