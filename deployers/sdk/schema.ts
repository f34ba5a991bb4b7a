/** Codecs from schemas of zod, or of any other library that implements Standard Schema. */
import { z } from 'zod';
import { ownField } from '../../src/lib/objects.ts';
import { CodecError, codec, type Codec } from './codec.ts';
import { unreadBySchema } from './schema-shape.ts';
import { sentencesOn, type UnreadField } from './shape.ts';

/** The part of Standard Schema that is used, see standardschema.dev. Schemas of zod implement it. */
export interface Schema<T> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Checked<T> | Promise<Checked<T>>;
  };
}

/** The result of a validation. */
export type Checked<T> =
  { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** One finding of a validation, and its path. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A codec for one kind with one or several versions.
 * @param versions apiVersion → schema of the whole document; a strict schema must contain apiVersion and kind. The last
 *     version is the one that is written. Fields that a schema of zod 4 leaves out are reported to the user, except for
 *     loose objects
 * @example schemaCodec('ProviderConfiguration', { 'blob.example.org/v1': z.object({ path: z.string() }) })
 */
export const schemaCodec = <T>(kind: string, versions: Readonly<Record<string, Schema<T>>>): Codec<T> => ({
  ...codec(
    kind,
    Object.fromEntries(
      Object.entries(versions).map(([version, schema]) => [
        version,
        (fields: unknown) => checked(schema, fields),
      ]),
    ),
  ),
  schemas: versions,
  unread: (document) => sentencesOn(unreadByVersion(versions, document)),
});

/** The codec, with schemas of zod that only describe its documents: fields that they leave out are reported. */
export const describedBy = <T>(
  versions: Readonly<Record<string, unknown>>,
  documents: Codec<T>,
): Codec<T> => ({
  ...documents,
  schemas: versions,
  unread: (document) => sentencesOn(unreadByVersion(versions, document)),
});

/** The first fields of the schema of a provider configuration. */
export const configurationHead = (apiVersion: string) => ({
  apiVersion: z.literal(apiVersion).describe('Version of the configuration; it belongs to one deployer.'),
  kind: z.literal('ProviderConfiguration').describe('Always ProviderConfiguration.'),
});

/** The fields of a document that the schema of its version leaves out. */
export function unreadByVersion(
  versions: Readonly<Record<string, unknown>>,
  document: unknown,
): readonly UnreadField[] {
  const version = ownField(document, 'apiVersion');
  const schema = typeof version === 'string' ? ownField(versions, version) : undefined;
  return schema === undefined ? [] : unreadBySchema(schema, document, ['apiVersion', 'kind']);
}

function checked<T>(schema: Schema<T>, document: unknown): T {
  const result = schema['~standard'].validate(document);
  if (result instanceof Promise) throw new TypeError('a configuration schema cannot be asynchronous');
  if (!result.issues) return result.value;
  const reasons = result.issues.map(sentence);
  throw new CodecError({ step: 'decode', message: reasons.join('; '), reasons });
}

const sentence = ({ path = [], message }: SchemaIssue): string =>
  path.length === 0 ? message : `${place(path)}: ${message}`;

const place = (path: NonNullable<SchemaIssue['path']>): string =>
  path
    .map((step) => (typeof step === 'object' ? step.key : step))
    .map((key, i) => (typeof key === 'number' ? `[${String(key)}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('');
