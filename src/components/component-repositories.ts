/**
 * Access to components, shared by all installations of a process: connections, tokens, and a cache of fetched
 * contents.
 */
import type { DownloadLimits } from '../lib/byte-budget.ts';
import type { Clock } from '../lib/clock.ts';
import { goJson } from '../lib/gojson.ts';
import type { LocalAddresses } from '../lib/local-addresses.ts';
import { Pace } from '../lib/pace.ts';
import type { Rng } from '../lib/rng.ts';
import type { ArtifactStore } from './artifact.ts';
import { Authorization } from './authorization.ts';
import { createContentCache, type CacheFacts } from './cache.ts';
import { openRepository } from './context.ts';
import type { ConfiguredFile, ReportFile } from './configured-files.ts';
import { CredentialFiles } from './credential-files.ts';
import type { Credentials } from './credentials.ts';
import { nameOf, type JsonMap } from './descriptor.ts';
import { descriptorsHere, inWorkerIfLarge, type DescriptorRunner } from './descriptor-work.ts';
import { BlobMissing, ContentInvalid } from './errors.ts';
import { overwritten, type ComponentReference, type Overwrite } from './overwrites.ts';
import { defaultLimits, Registry, type Limits } from './registry.ts';
import { inRepository, type FoundComponent, type Repository } from './repository.ts';
import { findComponent, resolveAll, type ComponentLimits, type Lookup } from './resolve.ts';
import type { Resolver } from './resolvers.ts';
import { Transport } from './transport.ts';
import { Trust } from './trust.ts';
import { ComponentView, type ComponentSource } from './view.ts';

interface ComponentRepositoriesOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly signal?: AbortSignal;
  readonly allowPlainHttp?: boolean;
  /** Whether registries may be on this machine or its link; default: where a user has named them. */
  readonly localAddresses?: LocalAddresses;
  /** Docker's configuration files with credentials for requests that have none of their own for a registry. */
  readonly configFiles?: readonly ConfiguredFile[];
  /** Files with certificate authorities in PEM, trusted in addition to those of Node. */
  readonly caFiles?: readonly ConfiguredFile[];
  /** Receives problems with files of the configuration; default: only errors of registries mention them. */
  readonly report?: ReportFile;
  /** The folder that contains all file-based repositories; undefined: they are not available. */
  readonly localRoot?: string | undefined;
  /** Cache size for fetched blobs; default 64 MiB. */
  readonly cacheBytes?: number;
  readonly limits?: Partial<Limits>;
  /** Limits for the components of one installation; default: those without a configuration file. */
  readonly componentLimits?: ComponentLimits | undefined;
  /** Size limit for blobs, and for parallel downloads; shared with other downloads of the process. */
  readonly downloads?: DownloadLimits;
  /** Timeout of one request; default 5 minutes. */
  readonly deadlineMs?: number;
}

/** Credentials and settings of one installation. */
export interface Request {
  readonly credentials: Credentials;
  readonly resolvers: readonly Resolver[];
  readonly overwrites: readonly Overwrite[];
  /** Of the installation or deploy item: namespaces share the memory for downloads. Undefined: servers share it. */
  readonly namespace: string | undefined;
  /** Processes large descriptors; default: in this thread. */
  readonly runner?: DescriptorRunner | undefined;
}

export interface ComponentRepositories {
  registry(address: string, credentials: Credentials, namespace?: string): Registry;
  /** The certificate authorities of the configuration, also for chart repositories. */
  readonly trust: Trust;
  /** The given credentials, and for other registries those of the configuration. */
  readonly withDefaults: (credentials: Credentials) => Credentials;
  /** @throws ComponentProblem */
  find(reference: ComponentReference, request: Request): Promise<FoundComponent>;
  /** Processes descriptors; large ones with the runner of the request. */
  descriptors(request: Pick<Request, 'runner'>): DescriptorRunner;
  /** @throws ComponentProblem */
  inline(
    document: JsonMap,
    context: JsonMap | undefined,
    request: Request,
    /** For messages. */
    what?: string,
  ): Promise<FoundComponent>;
  /** A view of the component and everything it references. @throws ComponentProblem */
  view(
    source: ComponentSource,
    own: FoundComponent,
    context: JsonMap | undefined,
    request: Request,
  ): Promise<ComponentView>;
  /** Size of the content cache. */
  readonly cache: CacheFacts;
  close(): Promise<void>;
}

const CACHE_BYTES = 64 * 2 ** 20;

const trustFor = ({ caFiles, report, localAddresses }: ComponentRepositoriesOptions): Trust =>
  new Trust({ ...(caFiles && { files: caFiles }), ...(report && { report }), local: localAddresses });

export function createComponentRepositories(options: ComponentRepositoriesOptions): ComponentRepositories {
  const { downloads } = options;
  const trust = trustFor(options);
  const transport = new Transport({ ...options, trust, ...(downloads && { budget: downloads.budget }) });
  const authorization = new Authorization(transport);
  const limits = {
    ...defaultLimits,
    ...(downloads && { maxBlobBytes: downloads.maxBytes }),
    ...options.limits,
  };
  const cache = createContentCache(options.cacheBytes ?? CACHE_BYTES);
  const files = new CredentialFiles(options.configFiles ?? [], options.report ?? (() => undefined));
  if (options.report) reportNow(files, trust);
  const ports = { transport, authorization, cache, limits, defaults: () => files.current() };
  const registry = (address: string, credentials: Credentials, namespace?: string): Registry =>
    new Registry(address, credentials, { ...ports, namespace });
  const pace = new Pace(options.clock);
  const descriptors: ComponentRepositories['descriptors'] = ({ runner = descriptorsHere }) =>
    inWorkerIfLarge(runner, pace);
  const open = opener((context, request) =>
    openRepository(context, {
      localRoot: options.localRoot,
      maxFileBytes: limits.maxBlobBytes,
      registry: (address): ArtifactStore => registry(address, request.credentials, request.namespace),
      runner: descriptors(request),
    }),
  );
  const lookup = (request: Request): Lookup => ({
    ...request,
    open: (context) => open(context, request),
    runner: descriptors(request),
    pace,
    ...(options.componentLimits && { limits: options.componentLimits }),
  });
  return {
    registry,
    trust,
    withDefaults: (credentials) => credentials.before(files.current()),
    get cache() {
      return cache.facts;
    },
    find: (reference, request) => findComponent(overwritten(reference, request.overwrites), lookup(request)),
    descriptors,
    async inline(document, context, request, what = 'the component descriptor') {
      const { component, bytes } = await descriptors(request).readDescriptor({ source: { document }, what });
      const place = component.repositoryContexts.at(-1) ?? context;
      const found = place ? inRepository(component, place) : component;
      const repository = place ? lazyRepository(place, () => open(place, request)) : nowhere;
      return { component: found, bytes, repository };
    },
    async view(source, own, context, request) {
      const resolved = await resolveAll(own, context, lookup(request));
      return new ComponentView(source, resolved, {
        registry: (address) => registry(address, request.credentials, request.namespace),
        maxContentBytes: limits.maxBlobBytes,
      });
    },
    close: () => transport.close(),
  };
}

/** Problems with files are reported at the start, not only when a registry cannot be used. */
function reportNow(files: CredentialFiles, trust: Trust): void {
  files.current();
  trust.with();
}

/** A request opens each repository once, because some have to be unpacked. */
function opener(
  open: (context: JsonMap, request: Request) => Promise<Repository>,
): (context: JsonMap, request: Request) => Promise<Repository> {
  const opened = new WeakMap<Request, Map<string, Promise<Repository>>>();
  /** Contexts contain their inline repositories, and are needed for each component. */
  const keys = new WeakMap<JsonMap, string>();
  return (context, request) => {
    const known = opened.get(request) ?? new Map<string, Promise<Repository>>();
    opened.set(request, known);
    const key = keys.get(context) ?? goJson(context);
    keys.set(context, key);
    const repository = known.get(key) ?? open(context, request);
    known.set(key, repository);
    repository.catch(() => known.delete(key));
    return repository;
  };
}

/** Opens the repository of an inline descriptor only if a blob is needed. */
const lazyRepository = (context: JsonMap, open: () => Promise<Repository>): Repository => ({
  name: 'the repository of the inline descriptor',
  context,
  find: async (name, version) => (await open()).find(name, version),
  localBlob: async (component, reference) => (await open()).localBlob(component, reference),
  relativeArtifact: async (reference) => {
    const repository = await open();
    if (repository.relativeArtifact) return repository.relativeArtifact(reference);
    throw new ContentInvalid(`${repository.name} is not a registry, so relative references are not possible`);
  },
});

const nowhere: Repository = {
  name: 'no repository',
  context: {},
  find: () => Promise.resolve(undefined),
  localBlob: (component) =>
    Promise.reject(
      new BlobMissing(`component ${nameOf(component)} has no repositoryContexts that locate its blobs`),
    ),
};
