/** Fetches charts from registries, by reference or as resources of components, with the credentials of the Context. */
import type { Artifact } from '../../src/components/artifact.ts';
import { fetchResource } from '../../src/components/access.ts';
import { CredentialReader } from '../../src/components/credentials.ts';
import { ContentInvalid, ReferenceInvalid } from '../../src/components/errors.ts';
import { describeSelector, select, type Selector } from '../../src/components/identity.ts';
import { parseImageReference } from '../../src/components/image-reference.ts';
import type { Content } from '../../src/components/repository.ts';
import { readResolvers } from '../../src/components/resolvers.ts';
import type { Request, ComponentRepositories } from '../../src/components/component-repositories.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { parseBoundedYaml } from '../../src/lib/yaml-texts.ts';
import type { HelmContext, HelmOptions } from './helm-context.ts';

/** Helm's media types for the chart layer, current and old. */
const CHART_LAYERS = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip'];

/** Maximum length of a resource key, in characters. */
const MAX_KEY = 16 * 2 ** 10;

/** @throws ComponentProblem */
export async function chartFromRegistry(
  ref: string,
  ctx: HelmContext,
  repositories: ComponentRepositories,
): Promise<Uint8Array> {
  const { host, repository, reference } = parseImageReference(ref);
  const { credentials, namespace } = await requestFor(ctx);
  const store = repositories.registry(host, credentials, namespace);
  const artifact = await store.artifact(repository, reference);
  if (!artifact) throw new ContentInvalid(`${store.name} has no chart ${repository}:${reference}`);
  return store.blob(repository, chartLayer(artifact, ref));
}

function chartLayer({ layers }: Artifact, what: string) {
  const layer = layers.find(({ mediaType }) => CHART_LAYERS.includes(mediaType));
  if (layer) return layer;
  throw new ContentInvalid(
    `${what} is not a chart: none of its ${String(layers.length)} layers contains one`,
  );
}

/**
 * @param key result of the template function `getResourceKey`: component and resource, in base64. @throws
 * ComponentProblem
 */
export async function chartFromComponent(
  key: string,
  ctx: HelmContext,
  { repositories, descriptorsOf }: Pick<HelmOptions, 'repositories' | 'descriptorsOf'>,
): Promise<Uint8Array> {
  const { name, version, resource } = readKey(key);
  const read = await requestFor(ctx);
  const request = { ...read, runner: descriptorsOf?.(read.namespace) };
  const { repositoryContext } = ctx.context;
  const found = await repositories.find(
    { ...(isObject(repositoryContext) && { repositoryContext }), componentName: name, version },
    request,
  );
  const [wanted] = select(found.component.resources, resource);
  if (!wanted) {
    throw new ReferenceInvalid(
      `component ${name}:${version} has no resource with ${describeSelector(resource)}`,
    );
  }
  const registry = (address: string) =>
    repositories.registry(address, request.credentials, request.namespace);
  return chartOfContent(
    await fetchResource(found, wanted, { registry }),
    `resource ${wanted.name} of ${name}`,
  );
}

function chartOfContent(content: Content, what: string): Uint8Array {
  if (content.kind === 'blob') return content.bytes;
  const layer = content.layers.find(({ mediaType }) => CHART_LAYERS.includes(mediaType));
  if (layer) return layer.bytes;
  throw new ContentInvalid(
    `${what} is not a chart: none of its ${String(content.layers.length)} layers contains one`,
  );
}

function readKey(key: string): {
  readonly name: string;
  readonly version: string;
  readonly resource: Selector;
} {
  let document: unknown;
  try {
    if (key.length > MAX_KEY) throw new RangeError('too long');
    document = parseBoundedYaml(Buffer.from(key, 'base64').toString('utf8'));
  } catch {
    throw new ReferenceInvalid('chart.resourceRef is not the key of a resource');
  }
  const component = ownField(document, 'component');
  const text = (value: unknown, field: string): string => {
    const found = ownField(value, field);
    return typeof found === 'string' ? found : '';
  };
  const identity = ownField(document, 'resource');
  const resource = isObject(identity) ? (identity as Selector) : {};
  const name = text(component, 'name');
  const version = text(component, 'version');
  if (name === '' || version === '' || text(identity, 'name') === '') {
    throw new ReferenceInvalid('chart.resourceRef must name a component with its version, and a resource');
  }
  return { name, version, resource };
}

/** Credentials, resolvers and overwrites of the item's Context. @throws ComponentProblem */
async function requestFor({
  context,
  host,
  item,
}: HelmContext): Promise<Request & { readonly namespace: string }> {
  const { registryPullSecrets = [], ocmConfig, metadata } = context;
  const reader = new CredentialReader(registryPullSecrets.length, `the Context ${metadata.name}`);
  for (const { name = '' } of registryPullSecrets) {
    const secret = await host.secret(name);
    if (!secret)
      throw new ReferenceInvalid(
        `the Context ${metadata.name} references secret ${name}, which does not exist`,
      );
    reader.add(secret, `secret ${name}`);
  }
  const name = ocmConfig?.name ?? '';
  const config = name === '' ? undefined : (await host.configMap(name))?.['.ocmconfig'];
  return {
    credentials: reader.credentials,
    resolvers: config === undefined ? [] : readResolvers(config, `.ocmconfig in config map ${name}`),
    overwrites: [],
    namespace: item.metadata.namespace ?? '',
  };
}
