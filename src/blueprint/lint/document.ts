/** Rules about documents: valid YAML, the right kind, and no unknown fields. */
import type { z } from 'zod';
import {
  blueprint as blueprintSchema,
  BLUEPRINT_FILE,
  BLUEPRINT_KIND,
  installationTemplate,
  INSTALLATION_TEMPLATE_KIND,
} from '../../api/blueprint.ts';
import { typeName } from '../../api/decode.ts';
import { API_VERSION } from '../../api/labels.ts';
import { closest } from '../../lib/closest.ts';
import { isObject } from '../../lib/objects.ts';
import { YamlError } from '../../lib/yaml.ts';
import { unknownFields } from '../unknown-fields.ts';
import type { Finding, RuleFacts } from './finding.ts';
import { shapeProblems } from './shape.ts';
import type { Place, Source } from './source.ts';
import { readYaml, type YamlText } from './yaml-text.ts';

export const documentRules = {
  'yaml-syntax': { level: 'error', about: 'a file that is not valid YAML' },
  'wrong-kind': { level: 'error', about: 'a wrong `apiVersion` or `kind`' },
  'blueprint-missing': { level: 'error', about: 'an inline blueprint without a file `blueprint.yaml`' },
  'blueprint-empty': { level: 'warning', about: 'an empty blueprint: it does nothing' },
  'installation-invalid': {
    level: 'error',
    about: 'an invalid Installation, which controllers would refuse',
  },
  'wrong-type': { level: 'error', about: 'a field of the wrong type, such as a list instead of a string' },
  'duplicate-key': { level: 'warning', about: 'a duplicate field: the last one wins' },
  'unknown-field': { level: 'warning', about: 'an unknown field, often a typo' },
  'field-capitals': { level: 'warning', about: 'a field with wrong upper or lower case; it is still read' },
} as const satisfies Readonly<Record<string, RuleFacts>>;
type RuleName = keyof typeof documentRules;

const finding = (rule: RuleName, place: Place, message: string): Finding => ({
  rule,
  level: documentRules[rule].level,
  place,
  message,
});

/** The parsed document; without a value, no other rules are applied. */
export interface Read {
  readonly readable:
    { readonly document: YamlText; readonly value: Readonly<Record<string, unknown>> } | undefined;
  readonly findings: readonly Finding[];
}

const unreadable = (...findings: readonly Finding[]): Read => ({ readable: undefined, findings });

/** Reads a document, the first one of the text. */
function readDocument(source: Source, schema: z.ZodType, kind: string): Read {
  try {
    const { document, value } = readYaml(source);
    return checkDocument(document, value, schema, kind);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return unreadable(noYaml(source, error));
  }
}

/** The same for a document that is part of another one. */
export function checkDocument(document: YamlText, value: unknown, schema: z.ZodType, kind: string): Read {
  if (value === null && kind === BLUEPRINT_KIND) {
    const message = 'the blueprint is empty, so it does nothing';
    return unreadable(finding('blueprint-empty', document.at([]), message));
  }
  const repeated = document
    .repeatedKeys()
    .map(({ key, place }) => finding('duplicate-key', place, `"${key}" is a duplicate; the last one wins`));
  if (!isObject(value)) {
    const message = `expected ${article(kind)} ${kind}, found ${typeName(value)}`;
    return unreadable(finding('wrong-kind', document.at([]), message));
  }
  const wrongKind = kindFindings(document, value, kind);
  if (wrongKind.length > 0) return unreadable(...wrongKind);
  const shape = shapeFindings(document, value, schema);
  const isUsable = shape.every(({ rule }) => rule !== 'wrong-type');
  return { readable: isUsable ? { document, value } : undefined, findings: [...repeated, ...shape] };
}

const article = (word: string): string => (/^[aeiou]/i.test(word) ? 'an' : 'a');

/** Templates of installations may omit both; a blueprint may not. */
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
      closest(JSON.stringify(found).replaceAll('"', ''), [wanted]) === undefined ? '' : ', a typo?';
    const message = `${field} is ${JSON.stringify(found)} instead of ${wanted}${meant}`;
    return [finding('wrong-kind', document.at([field]), message)];
  });
}

/** @param at where it should be */
export const missingBlueprint = (at: Place): Finding =>
  finding('blueprint-missing', at, `there is no file "${BLUEPRINT_FILE}" at the top level of the blueprint`);

export const invalidInstallation = (at: Place, refusal: string): Finding =>
  finding('installation-invalid', at, `this installation is not valid: ${refusal}`);

export const noYaml = (source: Source, error: YamlError): Finding => {
  const place = error.line === undefined ? source.place(0) : source.placeOfLine(error.line - 1);
  const why = error.message.replace(/^yaml: (line \d+: )?/, '');
  return finding('yaml-syntax', place, `this is not valid YAML: ${why}`);
};

export function shapeFindings(document: YamlText, value: unknown, schema: z.ZodType): readonly Finding[] {
  return shapeProblems(schema, value).map(({ kind, path, message }) => {
    const rule = ({ unknown: 'unknown-field', capitals: 'field-capitals', type: 'wrong-type' } as const)[
      kind
    ];
    return finding(rule, document.at(path, kind === 'type' ? 'value' : 'key'), message);
  });
}

/** Only the unknown fields, at most 100. */
export const unknownFieldFindings = (
  document: YamlText,
  value: unknown,
  schema: z.ZodType,
): readonly Finding[] =>
  unknownFields(schema, value).map(({ path, message }) =>
    finding('unknown-field', document.at(path, 'key'), message),
  );

export const readBlueprint = (source: Source): Read => readDocument(source, blueprintSchema, BLUEPRINT_KIND);

export const readTemplate = (source: Source): Read =>
  readDocument(source, installationTemplate, INSTALLATION_TEMPLATE_KIND);
