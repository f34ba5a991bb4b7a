/**
 * What templates, schemas and sub-installations see of an installation's component. Everything is answered at once;
 * only contents have to be fetched. Who needs one that is not there yet is interrupted with ContentNeeded, and runs
 * again when it is: work on a view must be repeatable.
 */
import { fetchResource, type AccessPorts } from './access.ts';
import {
  descriptorOf,
  nameOf,
  V2,
  V3,
  type Component,
  type JsonMap,
  type Resource,
  type SchemaVersion,
} from './descriptor.ts';
import { ComponentProblem, ContentNeeded, ReferenceInvalid } from './errors.ts';
import { describeSelector, select, type Selector } from './identity.ts';
import type { ComponentReference } from './overwrites.ts';
import type { RelativeReference } from './relative-reference.ts';
import type { Content, FoundComponent, Repository } from './repository.ts';
import { targetKey, type Resolved } from './resolve.ts';

/** Where the component of an installation comes from. */
export type ComponentSource =
  | { readonly kind: 'ref'; readonly original: ComponentReference; readonly effective: ComponentReference }
  | { readonly kind: 'inline'; readonly document: JsonMap };

export interface ResourcePlace {
  readonly owner: FoundComponent;
  readonly resource: Resource;
}

/** What a worker has to be given to see a component. It has no way to repositories. */
export interface ComponentData {
  readonly source: ComponentSource;
  readonly components: readonly Component[];
  /** What each reference leads to: its key, and a position in `components`. */
  readonly targets: readonly (readonly [key: string, position: number])[];
}

/** Contents that were fetched, or why they could not be. */
export type Shelf = ReadonlyMap<string, Content | ComponentProblem>;

export class ComponentView {
  readonly source: ComponentSource;
  readonly own: Component;
  readonly #resolved: Resolved;
  readonly #ports: AccessPorts;
  readonly #shelf: Map<string, Content | ComponentProblem>;

  constructor(source: ComponentSource, resolved: Resolved, ports: AccessPorts, shelf: Shelf = new Map()) {
    const [first] = resolved.all;
    if (!first) throw new TypeError('a view needs a component');
    this.source = source;
    this.own = first.component;
    this.#resolved = resolved;
    this.#ports = ports;
    this.#shelf = new Map(shelf);
  }

  /** The same for all views of what was resolved once. */
  get identity(): object {
    return this.#resolved;
  }

  /** References that no signature of the own component covers, in words. */
  get unverified(): readonly string[] {
    return this.#resolved.unverified;
  }

  get shelf(): Shelf {
    return this.#shelf;
  }

  data(): ComponentData {
    const { all, targets } = this.#resolved;
    return {
      source: this.source,
      components: all.map(({ component }) => component),
      targets: [...targets].map(([key, found]) => [key, all.indexOf(found)]),
    };
  }

  /** The same component without the contents that were fetched: those are for one pass, and may be large. */
  fresh(): ComponentView {
    return new ComponentView(this.source, this.#resolved, this.#ports);
  }

  get #root(): FoundComponent {
    return this.#resolved.all[0] as FoundComponent;
  }

  /** Own descriptor first, then all others. */
  descriptors(form: SchemaVersion): readonly JsonMap[] {
    return this.#resolved.all.map(({ component }) => descriptorOf(component, form));
  }

  /** The form that a blueprint asks for, or else that of the own component. @throws ReferenceInvalid */
  formFor(wanted: string | undefined): SchemaVersion {
    if (wanted === undefined) return this.own.schemaVersion;
    if (wanted === V2 || wanted === V3) return wanted;
    throw new ReferenceInvalid(`unknown schema version "${wanted}"; known are ${V2} and ${V3}`);
  }

  /** Where a reference within a descriptor leads to. */
  target(componentName: string, version: string): Component | undefined {
    return this.#resolved.targets.get(nameOf({ name: componentName, version }))?.component;
  }

  /** Follows references from the own component, or from the one that owns what is being read. @throws ReferenceInvalid */
  resolve({ path, resource }: RelativeReference, from?: FoundComponent): ResourcePlace {
    const owner = this.walk(path, from).at(-1)?.found ?? from ?? this.#root;
    const [found] = select(owner.component.resources, resource);
    if (found) return { owner, resource: found };
    throw new ReferenceInvalid(
      `local resource ${describeSelector(resource)} cannot be found in component ${nameOf(owner.component)}`,
    );
  }

  /** The references along a path, with what each leads to. @throws ReferenceInvalid */
  walk(path: readonly Selector[], from: FoundComponent = this.#root) {
    let at = from;
    return path.map((step) => {
      const [reference] = select(at.component.references, step);
      const found = reference && this.#resolved.targets.get(targetKey(reference));
      if (!reference || !found) {
        throw new ReferenceInvalid(
          `component reference ${describeSelector(step)} cannot be found in component ${nameOf(at.component)}`,
        );
      }
      at = found;
      return { reference, found };
    });
  }

  /**
   * @throws ContentNeeded; ComponentProblem when it was fetched in vain
   */
  content(place: ResourcePlace): Content {
    const key = keyOf(place);
    const found = this.#shelf.get(key);
    if (found === undefined) throw new ContentNeeded(key);
    if (found instanceof ComponentProblem) throw found;
    return found;
  }

  #places(): readonly ResourcePlace[] {
    return this.#resolved.all.flatMap((owner) =>
      owner.component.resources.map((resource) => ({ owner, resource })),
    );
  }

  /** @throws ComponentProblem when it may be had another time; what is definite is told to who asks for the content */
  async fetch({ key }: ContentNeeded): Promise<void> {
    const place = this.#places().find((each) => keyOf(each) === key);
    if (!place) throw new TypeError(`the component has no content ${key}`);
    try {
      this.#shelf.set(key, await fetchResource(place.owner, place.resource, this.#ports));
    } catch (error) {
      if (!(error instanceof ComponentProblem) || error.isPassing) throw error;
      this.#shelf.set(key, error);
    }
  }
}

/** A view of plain data, for another process: what has not been fetched yet has to be asked for. */
export function viewOf({ source, components, targets }: ComponentData, shelf: Shelf): ComponentView {
  const all = components.map((component) => ({ component, repository: nowhere }));
  const found = targets.flatMap(([key, at]) => (all[at] ? [[key, all[at]] as const] : []));
  return new ComponentView(source, { all, targets: new Map(found), unverified: [] }, noPorts, shelf);
}

const unreachable = (): never => {
  throw new TypeError('a view of plain data has no repositories');
};
const nowhere: Repository = { name: 'nowhere', context: {}, find: unreachable, localBlob: unreachable };
const noPorts: AccessPorts = { registry: unreachable };

const keyOf = ({ owner, resource }: ResourcePlace): string =>
  `${nameOf(owner.component)} ${describeSelector({ ...resource.extraIdentity, name: resource.name })} ${resource.version ?? ''}`;

/** Runs work that looks at a component, again for each content that it turns out to need. */
export const withContents = <T>(view: ComponentView | undefined, work: () => T | Promise<T>): Promise<T> =>
  retrying(work, (error) => {
    const needed = contentNeeded(error);
    return needed && view?.fetch(needed);
  });

/** Runs work, again after each failure that `mend` takes care of; undefined: it does not. The work must be repeatable. */
export async function retrying<T>(
  work: () => T | Promise<T>,
  mend: (error: unknown) => Promise<void> | undefined,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const mended = mend(error);
      if (!mended) throw error;
      await mended;
    }
  }
}

/** Engines wrap what functions throw, each in its own words; the cause stays. */
export function contentNeeded(error: unknown): ContentNeeded | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ContentNeeded) return at;
  return undefined;
}
