/** Finds a component and all components that it references, directly and indirectly. */
import { ownField } from '../lib/objects.ts';
import { nameOf, readDescriptor, type Component, type JsonMap, type Reference } from './descriptor.ts';
import { ComponentNotFound, ReferenceInvalid } from './errors.ts';
import { overwritten, type ComponentReference, type Overwrite } from './overwrites.ts';
import type { FoundComponent, Repository } from './repository.ts';
import { fits, type Resolver } from './resolvers.ts';
import { verifyReference } from './verify.ts';

/** Label of a reference that contains the descriptor of the referenced component. */
const DESCRIPTOR_LABEL = 'landscaper.gardener.cloud/component-descriptor';
const MAX_COMPONENTS = 2000;

export interface Lookup {
  /** @throws RepositoryUnusable */
  open(context: JsonMap): Promise<Repository>;
  readonly resolvers: readonly Resolver[];
  readonly overwrites: readonly Overwrite[];
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

  const visit = async (found: FoundComponent): Promise<FoundComponent> => {
    const known = byName.get(nameOf(found.component));
    if (known) return known;
    if (all.length >= MAX_COMPONENTS) {
      throw new ReferenceInvalid(
        `component ${nameOf(own.component)} refers to more than ${String(MAX_COMPONENTS)} others`,
      );
    }
    byName.set(nameOf(found.component), found);
    all.push(found);
    for (const reference of found.component.references) {
      const key = targetKey(reference);
      if (!targets.has(key)) targets.set(key, await visit(await follow(found, reference)));
    }
    return found;
  };
  const verifyTarget = ({ component }: FoundComponent, reference: Reference, target: Component): void => {
    if (verifyReference(component, reference, target)) return;
    unverified.push(`reference ${reference.name} of component ${nameOf(component)} to ${nameOf(target)}`);
  };
  const follow = async (from: FoundComponent, reference: Reference): Promise<FoundComponent> => {
    const nested = nestedDescriptor(reference);
    if (nested) verifyTarget(from, reference, nested);
    if (nested) return { component: nested, repository: from.repository };
    const { componentName, version } = reference;
    const wanted = overwritten({ repositoryContext: context, componentName, version }, lookup.overwrites);
    const known = byName.get(nameOf({ name: wanted.componentName, version: wanted.version }));
    const found = known ?? (await findComponent(wanted, lookup));
    // The digest of an overwritten reference belongs to the original component.
    const isOriginal = wanted.componentName === componentName && wanted.version === version;
    if (isOriginal) verifyTarget(from, reference, found.component);
    return found;
  };

  await visit(own);
  return { all, targets, unverified };
}

/** @throws DescriptorInvalid */
function nestedDescriptor(reference: Reference): Component | undefined {
  const document = nestedDocument(reference);
  if (document === undefined) return undefined;
  return readDescriptor(document, `the descriptor in the label of reference ${reference.name}`);
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
