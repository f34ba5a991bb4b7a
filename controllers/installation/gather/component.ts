/**
 * Finds the component of an installation and all components that it references. A job sees the same component from
 * start to end, even if the repository changes meanwhile.
 */
import type { Context } from '../../../src/api/kinds/context.ts';
import {
  componentVersionOverwritesKind,
  type ComponentVersionOverwrites,
} from '../../../src/api/kinds/componentversionoverwrites.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { Credentials, secretCredentials } from '../../../src/components/credentials.ts';
import { readDescriptor, type JsonMap } from '../../../src/components/descriptor.ts';
import { describeOverwrite, overwritten, type Overwrite } from '../../../src/components/overwrites.ts';
import { readResolvers } from '../../../src/components/resolvers.ts';
import type { Request, ComponentRepositories } from '../../../src/components/component-repositories.ts';
import type { ComponentSource, ComponentView } from '../../../src/components/view.ts';
import { exactJson } from '../../../src/lib/exact-json.ts';
import { asText, type PhaseCondition } from '../../../src/machine/decision.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj, View } from '../../../src/runtime/types.ts';
import { withPhaseErrors, withPhaseErrorsAsync, problem } from './component-errors.ts';
import { verifyComponent, verifyReferences, type VerificationPolicy } from './verification.ts';
import { isFinal } from '../../../src/runtime/errors.ts';

interface ComponentPorts {
  /** Reads secrets, config maps and overwrites, which are not cached. */
  readonly client: Pick<Client, 'get'>;
  readonly repositories: ComponentRepositories;
  readonly verification?: VerificationPolicy;
}

export interface FoundComponent {
  /** undefined for an installation without a component */
  readonly view: ComponentView | undefined;
  /** Whether the reference was overwritten; set if the Context names overwrites. */
  readonly condition: PhaseCondition | undefined;
}

export type FindComponent = (
  self: View<Installation>,
  context: View<Context> | undefined,
) => Promise<FoundComponent>;

const MAX_CACHED = 500;
const NO_COMPONENT: FoundComponent = { view: undefined, condition: undefined };

/** @throws PhaseError when the returned function is called */
export function componentFinder(ports: ComponentPorts): FindComponent {
  /** Results keyed by job; `inputs` tells whether a result is still valid. */
  const cache = new Map<string, { readonly inputs: string; readonly found: FoundComponent }>();
  return async (self, context) => {
    const { ref, inline } = self.spec.componentDescriptor ?? {};
    if (!ref && !inline) return NO_COMPONENT;
    if (!context) throw problem('CalculateContext', 'the context of the installation no longer exists');
    const key = `${self.metadata.uid ?? ''}/${self.status?.jobID ?? ''}`;
    const inputs = exactJson([self.spec.componentDescriptor, withoutMetadata(context)]);
    const known = cache.get(key);
    if (known?.inputs === inputs) return { ...known.found, view: known.found.view?.fresh() };
    const found = await find(self, context, ports);
    cache.delete(key);
    cache.set(key, { inputs, found: { ...found, view: found.view?.fresh() } });
    const [oldest] = cache.keys();
    if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    return found;
  };
}

const withoutMetadata = ({ metadata: _, ...rest }: View<Context>): object => rest;

async function find(
  self: View<Installation>,
  context: View<Context>,
  { client, repositories, verification }: ComponentPorts,
): Promise<FoundComponent> {
  const request = await requestFor(context, client);
  const source = withPhaseErrors('CalculateContext', () => sourceOf(self, context, request.overwrites));
  const isOwn = self.spec.blueprint.ref !== undefined;
  const repositoryContext =
    source.kind === 'ref'
      ? source.original.repositoryContext
      : (readDescriptor(source.document).repositoryContexts.at(-1) ?? context.repositoryContext);
  const own = await withPhaseErrorsAsync(isOwn ? 'ResolveBlueprint' : 'InitInstallationOperation', () =>
    source.kind === 'ref'
      ? repositories.find(source.original, request)
      : Promise.resolve(repositories.inline(source.document, repositoryContext, request)),
  );
  const signatureName = await verifyComponent(self, context, own.component, { client, policy: verification });
  const view = await withPhaseErrorsAsync('InitInstallationOperation', () =>
    repositories.view(source, own, repositoryContext, request),
  );
  if (signatureName !== undefined) verifyReferences(signatureName, view);
  return { view, condition: context.componentVersionOverwrites ? conditionFor(source) : undefined };
}

function sourceOf(
  self: View<Installation>,
  context: View<Context>,
  overwrites: readonly Overwrite[],
): ComponentSource {
  const { ref, inline } = self.spec.componentDescriptor ?? {};
  if (inline) {
    const { repositoryContexts } = readDescriptor(inline, 'spec.componentDescriptor.inline');
    if (repositoryContexts.length === 0 && !context.repositoryContext) {
      throw problem(
        'CalculateContext',
        'RepositoryContextMissing: neither the inline descriptor nor the context names one',
      );
    }
    return { kind: 'inline', document: inline };
  }
  const repositoryContext = (ref?.repositoryContext ?? context.repositoryContext) as JsonMap | undefined;
  const original = {
    ...(repositoryContext && { repositoryContext }),
    componentName: ref?.componentName ?? '',
    version: ref?.version ?? '',
  };
  return { kind: 'ref', original, effective: overwritten(original, overwrites) };
}

const conditionFor = (source: ComponentSource): PhaseCondition => {
  const message = source.kind === 'ref' ? describeOverwrite(source.original, source.effective) : undefined;
  return message === undefined
    ? {
        type: 'ComponentReferenceOverwrite',
        status: 'False',
        reason: 'No overwrite defined',
        message: 'component reference has not been overwritten',
      }
    : { type: 'ComponentReferenceOverwrite', status: 'True', reason: 'FoundOverwrite', message };
};

// ---------------------------------------------------------------- objects that the context references

async function requestFor(context: View<Context>, client: ComponentPorts['client']): Promise<Request> {
  const { name, namespace = '' } = context.metadata;
  const read = async <T extends Obj>(kind: Kind<T>, wanted: string, reason: string): Promise<T> => {
    const found = await getIfThere(client, kind, `${namespace}/${wanted}`).catch((error: unknown) => {
      if (!isFinal(error)) throw error;
      throw problem('CalculateContext', `context '${name}': ${(error as Error).message}`, error);
    });
    if (found) return found;
    const what = kind.kind === 'ComponentVersionOverwrites' ? `${kind.kind} resource` : kind.kind;
    const message = `context '${name}' references ${what} '${wanted}', which cannot be found`;
    throw problem('CalculateContext', asText({ operation: kind.kind, reason, message }));
  };
  const { registryPullSecrets = [], ocmConfig, componentVersionOverwrites } = context;

  const credentials: Credentials[] = [];
  for (const { name: secret = '' } of registryPullSecrets) {
    const { data = {} } = await read(secretKind, secret, 'GetPullSecret');
    credentials.push(
      withPhaseErrors('CalculateContext', () =>
        secretCredentials(decoded(data), `secret ${namespace}/${secret}`),
      ),
    );
  }
  const config =
    ocmConfig && (await read(configMapKind, ocmConfig.name ?? '', 'GetOcmConfig')).data?.['.ocmconfig'];
  if (ocmConfig && config === undefined) {
    throw problem('CalculateContext', `config map ${namespace}/${ocmConfig.name} has no key .ocmconfig`);
  }
  const where = `.ocmconfig in config map ${namespace}/${ocmConfig?.name ?? ''}`;
  const resolvers =
    config === undefined ? [] : withPhaseErrors('CalculateContext', () => readResolvers(config, where));
  const overwrites = componentVersionOverwrites
    ? await read<ComponentVersionOverwrites>(
        componentVersionOverwritesKind,
        componentVersionOverwrites,
        'GetComponentVersionOverwrites',
      )
    : undefined;
  return { credentials: Credentials.all(credentials), resolvers, overwrites: overwrites?.overwrites ?? [] };
}

const decoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
