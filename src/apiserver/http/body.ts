/** Parses request bodies: media types, JSON and YAML, and the first checks of kind and version. */
import { goQuote } from '../schema/field-errors.ts';
import { exactJson, inexactIn, parseExactJson, refusedInteger } from '../../lib/exact-json.ts';
import { messageOf } from '../../lib/message-of.ts';
import { append } from '../../lib/lists.ts';
import { parseYaml } from '../../lib/yaml.ts';
import type { Call } from '../api.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import type { Kind } from '../kinds/kinds.ts';
import { decodeProtobuf, ProtobufError } from '../protobuf/protobuf.ts';
import { badRequest, invalid, unsupportedMediaType } from '../status.ts';
import * as field from '../schema/field-errors.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject } from '../types.ts';

export const mediaType = (call: Call): string => {
  const header = call.headers['content-type'];
  return (
    String(header ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
};

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF];

function fromProtobuf(body: Buffer, subject: string): unknown {
  try {
    return decodeProtobuf(body);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${subject}): ${error.message}`);
  }
}

/** Limits in the schemas of definitions are doubles for a real server, too. */
const DOUBLES = /(?:^|\.)(?:minimum|maximum|multipleOf)$/;

/**
 * Parses JSON without loss: integers that would lose digits are refused, as in YAML.
 * @param isDefinition whether it is a CustomResourceDefinition
 * @throws Error
 */
export function wholeJson(text: string, isDefinition = false): unknown {
  const value = parseExactJson(text);
  const found = inexactIn(value, '', isDefinition ? (path) => DOUBLES.test(path) : undefined);
  if (found) throw new RangeError(refusedInteger(found.path === '' ? 'the body' : found.path, found.digits));
  return isDefinition ? JSON.parse(text) : value;
}

interface Decoded {
  readonly value: unknown;
  /** Paths of duplicate members. */
  readonly duplicates: readonly string[];
}

/**
 * The body as plain JSON.
 * @param subject kind for the error message
 * @throws ApiError 415 for other media types, 400 for invalid bodies
 */
export function decodeBody(call: Call, subject: string, findDuplicates: boolean, isBuiltIn = true): Decoded {
  const type = mediaType(call);
  if (type === PROTOBUF && isBuiltIn) return { value: fromProtobuf(call.body, subject), duplicates: [] };
  if (type !== '' && type !== 'application/json' && type !== 'application/yaml')
    throw unsupportedMediaType(isBuiltIn ? ACCEPTED : ACCEPTED.slice(0, 2));
  const text = call.body.toString('utf8');
  try {
    const isDefinition = subject === 'CustomResourceDefinition';
    if (type === 'application/yaml') {
      const value = isDefinition
        ? wholeJson(exactJson(parseYaml(text, { integers: 'exact' })), isDefinition)
        : parseYaml(text);
      return { value, duplicates: [] };
    }
    const value: unknown = wholeJson(text, isDefinition);
    return { value, duplicates: findDuplicates ? duplicateKeys(text) : [] };
  } catch (error) {
    const why = type === 'application/yaml' ? 'error converting YAML to JSON' : 'json parse error';
    throw badRequest(
      `the object provided is unrecognized (must be of type ${subject}): couldn't get version/kind; ${why}: ${messageOf(error)}`,
    );
  }
}

/** The body as an object of `kind`; built-in kinds may omit kind and apiVersion. */
export function decodeObject(
  call: Call,
  kind: Kind,
  findDuplicates: boolean,
): { object: JsonObject; duplicates: readonly string[] } {
  const { value, duplicates } = decodeBody(call, kind.kind, findDuplicates, kind.builtIn);
  if (!isObject(value))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  checkKind(value, kind, call.body);
  return { object: { ...value, kind: kind.kind, apiVersion: kind.apiVersion }, duplicates };
}

function checkKind(value: JsonObject, kind: Kind, body: Buffer): void {
  const given = { kind: textOf(value['kind']), apiVersion: textOf(value['apiVersion']) };
  if (kind.builtIn) {
    if (given.kind !== '' && given.kind !== kind.kind)
      throw badRequest(
        `${given.kind} in version ${goQuote(versionOf(given.apiVersion))} cannot be handled as a ${kind.kind}: converting (${versionOf(given.apiVersion)}.${given.kind}) to (${kind.group === '' ? 'core' : kind.group.split('.')[0]}.${kind.kind}): unknown conversion`,
      );
    if (given.apiVersion !== '' && given.apiVersion !== kind.apiVersion)
      throw badRequest(
        `${kind.kind} in version ${goQuote(versionOf(given.apiVersion))} cannot be handled as a ${kind.kind}: no kind ${goQuote(kind.kind)} is registered for version ${goQuote(given.apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      );
    return;
  }
  if (given.kind === '')
    throw badRequest(
      `${kind.kind} in version ${goQuote(kind.version)} cannot be handled as a ${kind.kind}: unstructured error: Object 'Kind' is missing in '${body.toString('utf8').trim()}'`,
    );
  if (given.apiVersion !== kind.apiVersion)
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${kind.apiVersion})`,
    );
  if (given.kind !== kind.kind) {
    const name = isObject(value['metadata']) ? textOf(value['metadata']['name']) : '';
    throw invalid({ group: kind.group, kind: given.kind }, name, [
      field.invalid('kind', given.kind, `must be ${kind.kind}`),
    ]);
  }
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

/** Reports the results of field validation, depending on the client's setting. @throws ApiError 400 if it is strict */
export function reportFindings(
  findings: readonly string[],
  validation: 'Ignore' | 'Warn' | 'Strict',
  kind: Kind,
  warnings: string[],
): void {
  if (findings.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict')
    throw badRequest(
      `${kind.kind} in version ${goQuote(kind.version)} cannot be handled as a ${kind.kind}: strict decoding error: ${findings.join(', ')}`,
    );
  append(warnings, findings);
}
