/** The provider configuration of the container deployer. */
import { z } from 'zod';
import { codec, CodecError, type Codec } from '../sdk/codec.ts';
import { continuousShape, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { schemaCodec } from '../sdk/schema.ts';
import { anything } from '../sdk/shape.ts';
import { CONTAINER_API_VERSION } from './contract.ts';

const map = z.record(z.string(), z.unknown());
const texts = z.array(z.string());

const schema = z.object({
  image: z.string().nullish(),
  command: texts.nullish(),
  args: texts.nullish(),
  importValues: map.nullish(),
  blueprint: z
    .object({
      inline: z.object({ filesystem: z.unknown() }).nullish(),
      ref: z.object({ resourceName: z.string().min(1) }).nullish(),
    })
    .nullish(),
  componentDescriptor: z
    .object({
      inline: map.nullish(),
      ref: z
        .object({
          componentName: z.string().min(1),
          version: z.string().min(1),
          repositoryContext: map.nullish(),
        })
        .nullish(),
    })
    .nullish(),
  registryPullSecrets: z
    .array(z.object({ name: z.string().nullish(), namespace: z.string().nullish() }))
    .nullish(),
  continuousReconcile: z.unknown().optional(),
});

type Document = z.infer<typeof schema>;

interface SecretRef {
  readonly name: string;
  readonly namespace: string;
}

export interface ContainerConfig {
  /** undefined: the default image of the deployer. */
  readonly image: string | undefined;
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  /** Content of the file at `IMPORTS_PATH`. */
  readonly importValues: Readonly<Record<string, unknown>> | undefined;
  readonly blueprint: NonNullable<Document['blueprint']> | undefined;
  readonly componentDescriptor: NonNullable<Document['componentDescriptor']> | undefined;
  readonly registryPullSecrets: readonly SecretRef[];
  readonly continuousReconcile: ContinuousReconcile | undefined;
}

const document = schemaCodec<Document>('ProviderConfiguration', { [CONTAINER_API_VERSION]: schema });

const shape = {
  image: anything,
  command: anything,
  args: anything,
  importValues: anything,
  blueprint: { inline: { filesystem: anything }, ref: { resourceName: anything } },
  componentDescriptor: {
    inline: anything,
    ref: { componentName: anything, version: anything, repositoryContext: anything },
  },
  registryPullSecrets: [{ name: anything, namespace: anything }],
  continuousReconcile: continuousShape,
} as const;

export const containerConfig: Codec<ContainerConfig> = codec(
  'ProviderConfiguration',
  { [CONTAINER_API_VERSION]: (fields) => validated(document.decode(fields)) },
  { [CONTAINER_API_VERSION]: shape },
);

function validated(given: Document): ContainerConfig {
  return {
    image: given.image || undefined,
    command: given.command ?? undefined,
    args: given.args ?? undefined,
    importValues: given.importValues ?? undefined,
    blueprint: oneOf(given.blueprint, 'blueprint'),
    componentDescriptor: oneOf(given.componentDescriptor, 'componentDescriptor'),
    registryPullSecrets: (given.registryPullSecrets ?? []).map(({ name, namespace }, i) => ({
      name: required(name, `registryPullSecrets[${String(i)}].name`),
      namespace: required(namespace, `registryPullSecrets[${String(i)}].namespace`),
    })),
    continuousReconcile: decodeContinuous(given.continuousReconcile),
  };
}

function required(text: string | null | undefined, path: string): string {
  if (text) return text;
  throw new CodecError({ step: 'validate', message: `${path}: Required value: must not be empty` });
}

/** At most one of the two sources may be set. */
function oneOf<T extends { inline?: unknown; ref?: unknown }>(
  given: T | null | undefined,
  path: string,
): T | undefined {
  if (!given) return undefined;
  if (given.inline && given.ref) {
    throw new CodecError({
      step: 'validate',
      message: `${path}: exactly one of inline and ref must be set, both are`,
    });
  }
  return given;
}
