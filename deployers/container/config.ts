/** The provider configuration of the container deployer. */
import { z } from 'zod';
import { codec, CodecError, type Codec } from '../sdk/codec.ts';
import { continuousSchema, decodeContinuous, type ContinuousReconcile } from '../sdk/continuous.ts';
import { configurationHead, describedBy, schemaCodec } from '../sdk/schema.ts';
import { CONTAINER_API_VERSION } from './contract.ts';

const map = z.record(z.string(), z.unknown());
const texts = z.array(z.string());

const schema = z.object({
  ...configurationHead(CONTAINER_API_VERSION),
  image: z
    .string()
    .nullish()
    .describe('Image to run. Default: the image in the configuration of the deployer.'),
  command: texts.nullish().describe('Command to run. Default: the entry point of the image.'),
  args: texts.nullish().describe('Arguments of the command.'),
  importValues: map.nullish().describe('Content of the file with imports that the program reads.'),
  blueprint: z
    .object({
      inline: z
        .object({ filesystem: z.unknown().describe('Files: maps are folders, strings are files.') })
        .nullish()
        .describe('An inline blueprint.'),
      ref: z
        .object({ resourceName: z.string().min(1).describe('Name of a resource of the component.') })
        .nullish()
        .describe('A blueprint in the component.'),
    })
    .nullish()
    .describe('Blueprint whose files the program can read. Exactly one of inline and ref.'),
  componentDescriptor: z
    .object({
      inline: map.nullish().describe('The component descriptor itself.'),
      ref: z
        .object({
          componentName: z.string().min(1).describe('Name of the component.'),
          version: z.string().min(1).describe('Version of the component.'),
          repositoryContext: map
            .nullish()
            .describe('Repository of the component. Default: that of the Context.'),
        })
        .nullish()
        .describe('A component version in a repository.'),
    })
    .nullish()
    .describe('Component descriptor that the program can read. Exactly one of inline and ref.'),
  registryPullSecrets: z
    .array(
      z.object({
        name: z.string().nullish().describe('Name of the secret.'),
        namespace: z.string().nullish().describe('Namespace of the secret.'),
      }),
    )
    .nullish()
    .describe('Secrets with credentials for the registry of the image.'),
  continuousReconcile: z.unknown().optional(),
});
/** For editors and pages; the codec reads the schedule by itself. */
export const containerSchema = schema.extend({ continuousReconcile: continuousSchema });

type Document = z.infer<typeof schema>;

export interface SecretRef {
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

export const containerConfig: Codec<ContainerConfig> = describedBy(
  { [CONTAINER_API_VERSION]: containerSchema },
  codec('ProviderConfiguration', {
    [CONTAINER_API_VERSION]: (fields) => validated(document.decode(fields)),
  }),
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
