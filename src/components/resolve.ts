/** Finds a component and all components that it references, directly and indirectly. */
import { ownField } from '../lib/objects.ts';
import type { Pace } from '../lib/pace.ts';
import { sizeText } from '../lib/sizes.ts';
import { nameOf, type Component, type JsonMap, type Reference } from './descriptor.ts';
import { descriptorsHere, type DescriptorRunner, type SizedComponent } from './descriptor-work.ts';
import { ComponentNotFound, ReferenceInvalid } from './errors.ts';
import { overwritten, type ComponentReference, type Overwrite } from './overwrites.ts';
import type { FoundComponent, Repository } from './repository.ts';
import { fits, type Resolver } from './resolvers.ts';

/** Label of a reference that contains the descriptor of the referenced component. */
const DESCRIPTOR_LABEL = 'landscaper.gardener.cloud/component-descriptor';

/** Limits for the components of one installation: its own, and all that it references. */
export interface ComponentLimits {
  readonly components: number;
  /** Size of all descriptors together, see `SizedComponent`. */
  readonly componentsMiB: number;
}

export const defaultComponentLimits: ComponentLimits = { components: 2000, componentsMiB: 8 };

export interface Lookup {
  /** @throws RepositoryUnusable */
  open(context: JsonMap): Promise<Repository>;
  readonly resolvers: readonly Resolver[];
  readonly overwrites: readonly Overwrite[];
  /** Default: those without a configuration file. */
  readonly limits?: ComponentLimits;
  /** Default: in this thread. */
  readonly runner?: DescriptorRunner;
  /** For processes with other work: repositories in memory never wait for I/O. */
  readonly pace?: Pace;
}

export interface Resolved {
  /** The component itself, then depth first; each version once. */
  readonly all: readonly FoundComponent[];
  /** The referenced components, keyed by name and version before overwrites. */
  readonly targets: ReadonlyMap<string, FoundComponent>;
  /** Descriptions of references without a verified digest; overwritten references are not included. */
  readonly unverified: readonly string[];
}

/**
 * Finds a component version in its repository, or in the repositories that the configuration has for it.
 * @param reference after overwrites
 * @throws ComponentNotFound; errors of repositories
 */
export async function findComponent(reference: ComponentReference, lookup: Lookup): Promise<FoundComponent> {
  const { componentName, version, repositoryContext } = reference;
  const contexts = [
    ...(repositoryContext ? [repositoryContext] : []),
    ...lookup.resolvers
      .filter((resolver) => fits(resolver, componentName))
      .map(({ repository }) => repository),
  ];
  const places: string[] = [];
  for (const context of contexts) {
    const repository = await lookup.open(context);
    const found = await repository.find(componentName, version);
    if (found) return found;
    places.push(repository.name);
  }
  throw new ComponentNotFound(componentName, version, places);
}

/** @param context repository that is searched first for references */
export async function resolveAll(
  own: FoundComponent,
  context: JsonMap | undefined,
  lookup: Lookup,
): Promise<Resolved> {
  const all: FoundComponent[] = [];
  const byName = new Map<string, FoundComponent>();
  const targets = new Map<string, FoundComponent>();
  const unverified: string[] = [];
  const { runner = descriptorsHere, pace } = lookup;
  const count = counter(own, lookup.limits);

  const visit = async (found: FoundComponent): Promise<FoundComponent> => {
    const known = byName.get(nameOf(found.component));
    if (known) return known;
    count(found);
    await pace?.rest();
    byName.set(nameOf(found.component), found);
    all.push(found);
    for (const reference of found.component.references) {
      const key = targetKey(reference);
      if (!targets.has(key)) targets.set(key, await visit(await follow(found, reference)));
    }
    return found;
  };
  const verifyTarget = async (from: Component, reference: Reference, target: Component): Promise<void> => {
    const { name, version } = from;
    if (await runner.verifyReference({ from: { name, version }, reference, target })) return;
    unverified.push(`reference ${reference.name} of component ${nameOf(from)} to ${nameOf(target)}`);
  };
  const follow = async (from: FoundComponent, reference: Reference): Promise<FoundComponent> => {
    const nested = await nestedDescriptor(reference, runner);
    if (nested) await verifyTarget(from.component, reference, nested.component);
    if (nested) return { ...nested, repository: from.repository };
    const { componentName, version } = reference;
    const wanted = overwritten({ repositoryContext: context, componentName, version }, lookup.overwrites);
    const known = byName.get(nameOf({ name: wanted.componentName, version: wanted.version }));
    const found = known ?? (await findComponent(wanted, lookup));
    // The digest of an overwritten reference belongs to the original component.
    const isOriginal = wanted.componentName === componentName && wanted.version === version;
    if (isOriginal) await verifyTarget(from.component, reference, found.component);
    return found;
  };

  await visit(own);
  return { all, targets, unverified };
}

/** Counts components, and their bytes. @throws ReferenceInvalid when the returned function is called */
function counter(
  { component }: FoundComponent,
  { components, componentsMiB }: ComponentLimits = defaultComponentLimits,
): (found: FoundComponent) => void {
  let number = 0;
  let left = componentsMiB * 2 ** 20;
  const refuse = (much: string, key: keyof ComponentLimits): never => {
    throw new ReferenceInvalid(
      `component ${nameOf(component)} and the components that it references exceed ${much}, the limit for one installation; limits.${key} in the configuration raises it`,
    );
  };
  return ({ bytes = 0 }) => {
    if (++number > components) refuse(`${String(components)} components`, 'components');
    left -= bytes;
    if (left < 0) refuse(`${sizeText(componentsMiB * 2 ** 20)} of descriptors`, 'componentsMiB');
  };
}

/** @throws DescriptorInvalid */
async function nestedDescriptor(
  reference: Reference,
  runner: DescriptorRunner,
): Promise<SizedComponent | undefined> {
  const document = nestedDocument(reference);
  if (document === undefined) return undefined;
  const what = `the descriptor in the label of reference ${reference.name}`;
  return runner.readDescriptor({ source: { document }, what });
}

/** The original document. */
export function nestedDocument({ labels = [] }: Reference): JsonMap | undefined {
  const label = labels.find(({ name }) => name === DESCRIPTOR_LABEL);
  const value = ownField(label, 'value');
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? (value as JsonMap)
    : undefined;
}

export const targetKey = ({ componentName, version }: Reference): string =>
  nameOf({ name: componentName, version });
