/** Codecs from schemas: zod's, or any other library's that speaks Standard Schema. */
import { CodecError, codec, type Codec } from './codec.ts';

/** What is needed of a schema; those of zod have it. See standardschema.dev. */
export interface Schema<T> {
  readonly '~standard': {
    readonly validate: (value: unknown) => Checked<T> | Promise<Checked<T>>;
  };
}

/** What a schema says of a value. */
export type Checked<T> =
  { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** One thing that a schema finds wrong, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A codec for one kind in one or several versions.
 * @param versions apiVersion → schema of the whole document; one that is strict has to name apiVersion and kind, too
 * @example schemaCodec('ProviderConfiguration', { 'blob.example.org/v1': z.object({ path: z.string() }) })
 */
export const schemaCodec = <T>(kind: string, versions: Readonly<Record<string, Schema<T>>>): Codec<T> =>
  codec(
    kind,
    Object.fromEntries(
      Object.entries(versions).map(([version, schema]) => [
        version,
        (fields: unknown) => checked(schema, fields),
      ]),
    ),
  );

function checked<T>(schema: Schema<T>, document: unknown): T {
  const result = schema['~standard'].validate(document);
  if (result instanceof Promise) throw new TypeError('a configuration schema cannot be asynchronous');
  if (!result.issues) return result.value;
  throw new CodecError({ step: 'decode', message: result.issues.map(sentence).join('; ') });
}

const sentence = ({ path = [], message }: SchemaIssue): string =>
  path.length === 0 ? message : `${place(path)}: ${message}`;

const place = (path: NonNullable<SchemaIssue['path']>): string =>
  path
    .map((step) => (typeof step === 'object' ? step.key : step))
    .map((key, i) => (typeof key === 'number' ? `[${String(key)}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('');
