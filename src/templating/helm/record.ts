/**
 * Helm's record of a revision, a secret on the target. A user with write access to it can craft one that takes
 * arbitrarily long to unpack, so it is unpacked in a worker that can be stopped.
 */
import { exactJson, parseExactJson } from '../../lib/exact-json.ts';
import { isTooLarge, unpackedSmall } from '../../lib/gzip.ts';
import { checkJsonBounds, JsonTooLarge } from '../../lib/json-bounds.ts';
import { structureExcess } from '../../lib/json-scan.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { documentsOf } from './documents.ts';
import { ChartInvalid } from './errors.ts';

export interface RecordJob {
  /** `data.release` of the secret. */
  readonly release: string;
}

/** Characters; Kubernetes stores no secret with more than 1 MiB. */
const MAX_PACKED = 2 * 2 ** 20;
const MAX_UNPACKED_MIB = 32;
/** The default limits for responses of a target, to which the record is compared. */
const OBJECT = { maxDepth: 1000, maxElements: 131_072 };

/**
 * The documents of a revision, each as JSON, so that the caller can parse them one by one; none if the record is
 * damaged.
 * @throws ChartInvalid
 */
export function recordDocuments(job: RecordJob): readonly string[] {
  const manifest = ownField(recordIn(job), 'manifest');
  return documentsOf(typeof manifest === 'string' ? manifest : '').flatMap((text) => documentOf(text) ?? []);
}

/** A document of a manifest as JSON; undefined if it is not valid YAML. @throws ChartInvalid if it is too large */
export function documentOf(text: string): string | undefined {
  const json = jsonOf(text);
  if (json === undefined || !structureExcess(Buffer.from(json), OBJECT)) return json;
  throw tooLarge(`an object of more than ${String(OBJECT.maxElements)} values`);
}

function jsonOf(text: string): string | undefined {
  try {
    return exactJson(parseYaml(text, { integers: 'exact' }));
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

/** The unpacked record; undefined if it is damaged. @throws ChartInvalid if it exceeds a limit */
export function recordIn({ release }: RecordJob): Fields | undefined {
  if (release.length > MAX_PACKED) throw tooLarge(`${String(release.length)} characters`);
  try {
    const packed = Buffer.from(Buffer.from(release, 'base64').toString('latin1'), 'base64');
    const json = Buffer.from(unpackedSmall(packed, MAX_UNPACKED_MIB << 20)).toString('utf8');
    checkJsonBounds(json);
    const record = parseExactJson(json);
    return isObject(record) ? record : undefined;
  } catch (error) {
    if (isTooLarge(error)) throw tooLarge(`more than ${String(MAX_UNPACKED_MIB)} MiB, unpacked`);
    if (error instanceof JsonTooLarge) throw new ChartInvalid(error.message, { cause: error });
    return undefined;
  }
}

const tooLarge = (what: string): ChartInvalid =>
  new ChartInvalid(`it has ${what}, which is more than a fixed limit allows`);
