/**
 * Finds the component of an installation and all components that it references. A job sees the same component from
 * start to end, even if the repository changes meanwhile.
 */
import type { Context } from '../../../src/api/kinds/context.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { JsonMap } from '../../../src/components/descriptor.ts';
import type { DescriptorRunner } from '../../../src/components/descriptor-work.ts';
import { describeOverwrite, overwritten, type Overwrite } from '../../../src/components/overwrites.ts';
import type { Request, ComponentRepositories } from '../../../src/components/component-repositories.ts';
import type { FoundComponent as OwnComponent } from '../../../src/components/repository.ts';
import type { ComponentSource, ComponentView } from '../../../src/components/view.ts';
import { exactJson } from '../../../src/lib/exact-json.ts';
import type { PhaseCondition } from '../../../src/machine/decision.ts';
import type { Client, View } from '../../../src/runtime/types.ts';
import { withPhaseErrorsAsync, problem } from './component-errors.ts';
import { requestFor } from './component-request.ts';
import { verifyComponent, verifyReferences, type VerificationPolicy } from './verification.ts';

interface ComponentPorts {
  /** Reads secrets, config maps and overwrites, which are not cached. */
  readonly client: Pick<Client, 'get'>;
  readonly repositories: ComponentRepositories;
  readonly verification?: VerificationPolicy;
  /** Processes large descriptors, in the worker share of a namespace; default: in this thread. */
  readonly runnerOf?: (namespace: string) => DescriptorRunner;
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

/** Limits of the cache: components, and bytes of their descriptors. Components that are not cached are read again. */
const MAX_CACHED = 500;
const MAX_CACHED_BYTES = 32 * 2 ** 20;
const NO_COMPONENT: FoundComponent = { view: undefined, condition: undefined };

/** @throws PhaseError when the returned function is called */
export function componentFinder(ports: ComponentPorts): FindComponent {
  /** Results keyed by job; `inputs` tells whether a result is still valid. */
  const cache = new Map<string, { readonly inputs: string; readonly found: FoundComponent }>();
  let bytes = 0;
  const remove = (key: string): void => {
    bytes -= cache.get(key)?.found.view?.bytes ?? 0;
    cache.delete(key);
  };
  return async (self, context) => {
    const { ref, inline } = self.spec.componentDescriptor ?? {};
    if (!ref && !inline) return NO_COMPONENT;
    if (!context) throw problem('CalculateContext', 'the context of the installation no longer exists');
    const key = `${self.metadata.uid ?? ''}/${self.status?.jobID ?? ''}`;
    const inputs = exactJson([self.spec.componentDescriptor, withoutMetadata(context)]);
    const known = cache.get(key);
    if (known?.inputs === inputs) return { ...known.found, view: known.found.view?.fresh() };
    const found = await find(self, context, ports);
    remove(key);
    cache.set(key, { inputs, found: { ...found, view: found.view?.fresh() } });
    bytes += found.view?.bytes ?? 0;
    for (const oldest of cache.keys()) {
      if (cache.size <= MAX_CACHED && bytes <= MAX_CACHED_BYTES) break;
      remove(oldest);
    }
    return found;
  };
}

const withoutMetadata = ({ metadata: _, ...rest }: View<Context>): object => rest;

async function find(
  self: View<Installation>,
  context: View<Context>,
  { client, repositories, verification, runnerOf }: ComponentPorts,
): Promise<FoundComponent> {
  const runner = runnerOf?.(self.metadata.namespace ?? '');
  const request: Request = { ...(await requestFor(context, client)), runner };
  const source = sourceOf(self, context, request.overwrites);
  const own = await ownComponent(self, context, source, { request, repositories });
  const repositoryContext =
    source.kind === 'ref'
      ? source.original.repositoryContext
      : (own.component.repositoryContexts.at(-1) ?? context.repositoryContext);
  const descriptors = repositories.descriptors(request);
  const signatureName = await verifyComponent(self, context, own.component, {
    client,
    descriptors,
    policy: verification,
  });
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
  if (inline) return { kind: 'inline', document: inline };
  const repositoryContext = (ref?.repositoryContext ?? context.repositoryContext) as JsonMap | undefined;
  const original = {
    ...(repositoryContext && { repositoryContext }),
    componentName: ref?.componentName ?? '',
    version: ref?.version ?? '',
  };
  return { kind: 'ref', original, effective: overwritten(original, overwrites) };
}

/** @throws PhaseError */
async function ownComponent(
  self: View<Installation>,
  context: View<Context>,
  source: ComponentSource,
  { request, repositories }: { readonly request: Request; readonly repositories: ComponentRepositories },
): Promise<OwnComponent> {
  if (source.kind === 'ref') {
    const isOwn = self.spec.blueprint.ref !== undefined;
    return withPhaseErrorsAsync(isOwn ? 'ResolveBlueprint' : 'InitInstallationOperation', () =>
      repositories.find(source.original, request),
    );
  }
  const found = await withPhaseErrorsAsync('CalculateContext', () =>
    repositories.inline(
      source.document,
      context.repositoryContext,
      request,
      'spec.componentDescriptor.inline',
    ),
  );
  if (found.component.repositoryContexts.length > 0) return found;
  throw problem(
    'CalculateContext',
    'RepositoryContextMissing: neither the inline descriptor nor the context names one',
  );
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
