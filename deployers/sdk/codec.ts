/** Reads provider configurations and statuses: the supported apiVersions and kinds, and why a document is rejected. */
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { anything, unreadFields, type Shape } from './shape.ts';

/**
 * Reads one kind of document. `decode` accepts any value.
 * @throws CodecError from `decode` for documents that cannot be read, from `validate` for invalid ones
 */
export interface Codec<T> {
  decode(document: unknown): T;
  /**
   * Sentences about fields that `decode` does not read, such as misspelt ones, for a warning to the user. Never
   * throws.
   */
  unread?(document: unknown): readonly string[];
  /** apiVersion → the zod schema that describes the documents, for tools that check documents before they are applied. */
  readonly schemas?: Readonly<Record<string, unknown>>;
  /** apiVersion and kind of the documents that are written now; the SDK adds them to a provider status without. */
  readonly head?: { readonly apiVersion: string; readonly kind: string };
}

/** Why a document was rejected. */
export class CodecError extends Error {
  override readonly name = 'CodecError';
  readonly step: 'decode' | 'validate';
  /** The reasons one by one, if there are several in the message. */
  readonly reasons: readonly string[];

  constructor(
    facts: ErrorOptions & {
      readonly step: 'decode' | 'validate';
      readonly message: string;
      readonly reasons?: readonly string[];
    },
  ) {
    super(facts.message, facts);
    this.step = facts.step;
    this.reasons = facts.reasons ?? [facts.message];
  }
}

/** The document with apiVersion and kind, unless it has its own. */
export const withHead = (codec: Codec<unknown> | undefined, document: unknown): unknown =>
  codec?.head && isObject(document) ? { ...codec.head, ...document } : document;

/**
 * A codec for one kind with one or several versions.
 * @param versions apiVersion → function that reads the fields; the last version is the one that is written
 * @param shapes apiVersion → the fields that are read, without apiVersion and kind
 */
export function codec<T>(
  kind: string,
  versions: Readonly<Record<string, (fields: Fields) => T>>,
  shapes: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {},
): Codec<T> {
  const written = Object.keys(versions).at(-1);
  return {
    ...(written !== undefined && { head: { apiVersion: written, kind } }),
    unread(document) {
      const version = ownField(document, 'apiVersion');
      const shape = typeof version === 'string' ? ownField(shapes, version) : undefined;
      return shape === undefined ? [] : unreadFields({ ...HEAD, ...(shape as object) }, document);
    },
    decode(document) {
      if (!isObject(document))
        throw new CodecError({ step: 'decode', message: `expected an object of kind ${kind}` });
      const { apiVersion, kind: given } = document;
      const read = typeof apiVersion === 'string' ? versions[apiVersion] : undefined;
      if (!read || given !== kind) {
        const known = Object.keys(versions).join(' or ');
        throw new CodecError({
          step: 'decode',
          message: `no kind "${textOf(given)}" is registered for version "${textOf(apiVersion)}"; expected ${kind} of ${known}`,
        });
      }
      return read(document);
    },
  };
}

const HEAD = { apiVersion: anything, kind: anything } as const;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the document unchanged, for plugins that read it themselves. */
export const passthrough: Codec<unknown> = { decode: (document) => document };

// ---------------------------------------------------------------- fields

const wrong = (path: string, expected: string): CodecError =>
  new CodecError({ step: 'decode', message: `${path}: expected ${expected}` });

/** @throws CodecError */
export function optionalString(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrong(path, 'a string');
  return value;
}

/** @throws CodecError */
export function optionalBoolean(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrong(path, 'true or false');
  return value;
}

/** @throws CodecError */
export function optionalObject(value: unknown, path: string): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw wrong(path, 'an object');
  return value;
}

/** @throws CodecError */
export function optionalList(value: unknown, path: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrong(path, 'a list');
  return value as readonly unknown[];
}

/** @throws CodecError */
export function optionalStrings(value: unknown, path: string): readonly string[] | undefined {
  return optionalList(value, path)?.map((element, i) => {
    if (typeof element !== 'string') throw wrong(`${path}[${String(i)}]`, 'a string');
    return element;
  });
}

/** @throws CodecError */
export function optionalStringMap(
  value: unknown,
  path: string,
): Readonly<Record<string, string>> | undefined {
  const map = optionalObject(value, path);
  for (const [key, entry] of Object.entries(map ?? {})) {
    if (typeof entry !== 'string') throw wrong(`${path}.${key}`, 'a string');
  }
  return map as Readonly<Record<string, string>> | undefined;
}
