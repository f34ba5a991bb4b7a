/** Selects the registry credentials that a pod needs from those of the item and its Context. */
import { addressOf } from '../../src/components/context.ts';
import { CredentialReader, type Credentials } from '../../src/components/credentials.ts';
import { ComponentProblem } from '../../src/components/errors.ts';
import { parseImageReference } from '../../src/components/image-reference.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import type { SecretRef } from './config.ts';
import { SECRET } from './kinds.ts';
import { dockerConfig } from './objects.ts';
import type { ContainerContext, ContainerOptions } from './options.ts';
import type { ContainerSettings } from './settings.ts';

type DockerConfig = Readonly<Record<string, string>>;

interface PullSecrets {
  readonly image: DockerConfig | undefined;
  /** For the repository of the component, which contains descriptor and blueprint. */
  readonly descriptor: DockerConfig | undefined;
  readonly blueprint: DockerConfig | undefined;
}

const OPERATION = 'EnsurePullSecrets';
/** In `pullSecretNamespaces`: as upstream. */
const ALL_NAMESPACES = '*';

/**
 * Selects from the credentials of the item, its Context, and the operator.
 * @param image of the main container. @throws RetryError if a secret does not exist, ConfigurationError if the
 * image reference is invalid
 */
export async function pullSecrets(
  ctx: ContainerContext,
  options: Pick<ContainerOptions, 'client' | 'settings' | 'withDefaults' | 'authorities'>,
  image: string,
): Promise<PullSecrets> {
  const { withDefaults = (own: Credentials) => own, authorities = () => [] } = options;
  const credentials = withDefaults(await credentialsOf(ctx, options));
  const place = placeOfImage(image);
  const login = credentials.for(place.host, place.repository);
  const repository = repositoryOf(ctx);
  const descriptor = repository && descriptorConfig(credentials, repository, authorities());
  return {
    image: login && dockerConfig(place.host, login),
    descriptor: ctx.config.componentDescriptor?.ref ? descriptor : undefined,
    blueprint: ctx.config.blueprint?.ref ? descriptor : undefined,
  };
}

/** The init container also needs the certificate authorities, because it does not read the configuration. */
function descriptorConfig(
  credentials: Credentials,
  { host, path }: { readonly host: string; readonly path: string },
  configured: readonly string[],
): DockerConfig | undefined {
  const login = credentials.for(host, path);
  const own = withConfigurationErrors(() => credentials.authorities(host, path));
  const authorities = [...configured, ...(own === undefined ? [] : [own])];
  if (!login && authorities.length === 0) return undefined;
  return dockerConfig(host, login, authorities.join('\n'));
}

function placeOfImage(image: string): { readonly host: string; readonly repository: string } {
  try {
    return parseImageReference(image);
  } catch (error) {
    if (!(error instanceof ComponentProblem)) throw error;
    throw new ConfigurationError({
      operation: OPERATION,
      reason: 'ParseImageReference',
      message: error.message,
    });
  }
}

/** The repository context of the component: its own, or the Context's. */
export function repositoryContextOf({
  config,
  context,
}: ContainerContext): Readonly<Record<string, unknown>> | undefined {
  const own = config.componentDescriptor?.ref?.repositoryContext;
  const general = context.repositoryContext;
  return own ?? (isObject(general) ? general : undefined);
}

function repositoryOf(ctx: ContainerContext): { readonly host: string; readonly path: string } | undefined {
  const baseUrl = ownField(repositoryContextOf(ctx), 'baseUrl');
  if (typeof baseUrl !== 'string') return undefined;
  try {
    const { host, path } = addressOf(baseUrl);
    return { host: host.replace(/^https?:\/\//, ''), path };
  } catch (error) {
    if (error instanceof ComponentProblem) return undefined; // the init container reports the error
    throw error;
  }
}

async function credentialsOf(
  ctx: ContainerContext,
  { client, settings }: Pick<ContainerOptions, 'client' | 'settings'>,
): Promise<Credentials> {
  for (const ref of ctx.config.registryPullSecrets) assertReadable(ref, ctx, settings);
  const ofContext = (ctx.context.registryPullSecrets ?? []).map(({ name = '' }) => ({
    name,
    namespace: ctx.item.metadata.namespace ?? '',
  }));
  const all = [...ctx.config.registryPullSecrets, ...ofContext];
  const reader = withConfigurationErrors(
    () => new CredentialReader(all.length, 'the deploy item with its Context'),
  );
  for (const { name, namespace } of all) {
    const secret = await getIfThere(client, SECRET, `${namespace}/${name}`, ctx.signal);
    if (!secret) {
      throw new RetryError({
        operation: OPERATION,
        reason: 'GetPullSecret',
        message: `the pull secret ${namespace}/${name} does not exist`,
      });
    }
    const texts = Object.entries(secret.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]);
    const data = Object.fromEntries(texts) as Record<string, string>;
    withConfigurationErrors(() => {
      reader.add(data, `secret ${namespace}/${name}`);
    });
  }
  return reader.credentials;
}

/**
 * The author of an item may not read secrets of other namespaces, so neither may the item: its image could be a private
 * one of another tenant. @throws ConfigurationError
 */
function assertReadable(
  { name, namespace }: SecretRef,
  { item }: ContainerContext,
  { pullSecretNamespaces }: Pick<ContainerSettings, 'pullSecretNamespaces'>,
): void {
  const own = item.metadata.namespace ?? '';
  const isAllowed = [namespace, ALL_NAMESPACES].some((one) => pullSecretNamespaces.includes(one));
  if (namespace === own || isAllowed) return;
  throw new ConfigurationError({
    operation: OPERATION,
    reason: 'GetPullSecret',
    message: `the pull secret ${namespace}/${name} is not in "${own}", the namespace of the deploy item; copy it there, or add "${namespace}" to container.pullSecretNamespaces in the configuration`,
  });
}

/** @throws ConfigurationError for credentials that cannot be used */
function withConfigurationErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ComponentProblem)) throw error;
    throw new ConfigurationError({ operation: OPERATION, reason: 'ReadPullSecret', message: error.message });
  }
}
