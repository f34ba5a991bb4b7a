/**
 * The component of an installation as templates, schemas and sub-installations see it. All methods are synchronous;
 * only contents have to be fetched. If a content has not been fetched yet, ContentNeeded is thrown and the caller
 * repeats its work after fetching the content. So work on a view must be repeatable.
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
import { sizeText } from '../lib/sizes.ts';
import { ComponentProblem, ContentNeeded, ContentTooLarge, ReferenceInvalid } from './errors.ts';
import { describeSelector, select, type Selector } from './identity.ts';
import type { ComponentReference } from './overwrites.ts';
import type { RelativeReference } from './relative-reference.ts';
import type { Content, FoundComponent, Repository } from './repository.ts';
import { targetKey, type Resolved } from './resolve.ts';

/** The definition of an installation's component. */
export type ComponentSource =
  | { readonly kind: 'ref'; readonly original: ComponentReference; readonly effective: ComponentReference }
  | { readonly kind: 'inline'; readonly document: JsonMap };

export interface ResourcePlace {
  readonly owner: FoundComponent;
  readonly resource: Resource;
}

/** The data that a worker process needs to create a view. It has no access to repositories. */
export interface ComponentData {
  readonly source: ComponentSource;
  readonly components: readonly Component[];
  /** For each reference: its key, and the position of the component in `components`. */
  readonly targets: readonly (readonly [key: string, position: number])[];
}

/** Fetched contents, or the errors of fetching them. */
export type FetchedContents = ReadonlyMap<string, Content | ComponentProblem>;

interface ViewPorts extends AccessPorts {
  /** Maximum size of all contents that are fetched for one reconcile; default 64 MiB. */
  readonly maxContentBytes?: number;
}

export class ComponentView {
  readonly source: ComponentSource;
  readonly own: Component;
  readonly #resolved: Resolved;
  readonly #ports: ViewPorts;
  readonly #fetched: Map<string, Content | ComponentProblem>;
  #contentBytes = 0;

  constructor(
    source: ComponentSource,
    resolved: Resolved,
    ports: ViewPorts,
    fetched: FetchedContents = new Map(),
  ) {
    const [first] = resolved.all;
    if (!first) throw new TypeError('a view needs a component');
    this.source = source;
    this.own = first.component;
    this.#resolved = resolved;
    this.#ports = ports;
    this.#fetched = new Map(fetched);
  }

  /** The same object for all views of one resolved component. */
  get identity(): object {
    return this.#resolved;
  }

  /** Descriptions of references that a signature of the component does not cover. */
  get unverified(): readonly string[] {
    return this.#resolved.unverified;
  }

  /** Size of all descriptors. */
  get bytes(): number {
    return this.#resolved.all.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  }

  get fetched(): FetchedContents {
    return this.#fetched;
  }

  data(): ComponentData {
    const { all, targets } = this.#resolved;
    return {
      source: this.source,
      components: all.map(({ component }) => component),
      targets: [...targets].map(([key, found]) => [key, all.indexOf(found)]),
    };
  }

  /** The same component without fetched contents, which belong to one reconcile and may be large. */
  fresh(): ComponentView {
    return new ComponentView(this.source, this.#resolved, this.#ports);
  }

  get #root(): FoundComponent {
    return this.#resolved.all[0] as FoundComponent;
  }

  /** The component's own descriptor first, then all others. */
  descriptors(form: SchemaVersion): readonly JsonMap[] {
    return this.#resolved.all.map(({ component }) => descriptorOf(component, form));
  }

  /** The descriptor format of the blueprint, or of the component by default. @throws ReferenceInvalid */
  formFor(wanted: string | undefined): SchemaVersion {
    if (wanted === undefined) return this.own.schemaVersion;
    if (wanted === V2 || wanted === V3) return wanted;
    throw new ReferenceInvalid(`unknown schema version "${wanted}"; known are ${V2} and ${V3}`);
  }

  /** The component that a reference in a descriptor leads to. */
  target(componentName: string, version: string): Component | undefined {
    return this.#resolved.targets.get(nameOf({ name: componentName, version }))?.component;
  }

  /** Resolves a reference, starting at the component or at `from`. @throws ReferenceInvalid */
  resolve({ path, resource }: RelativeReference, from?: FoundComponent): ResourcePlace {
    const owner = this.walk(path, from).at(-1)?.found ?? from ?? this.#root;
    const [found] = select(owner.component.resources, resource);
    if (found) return { owner, resource: found };
    throw new ReferenceInvalid(
      `local resource ${describeSelector(resource)} cannot be found in component ${nameOf(owner.component)}`,
    );
  }

  /** The references along a path, each with its component. @throws ReferenceInvalid */
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

  /** @throws ContentNeeded; ComponentProblem if fetching it has failed */
  content(place: ResourcePlace): Content {
    const key = keyOf(place);
    const found = this.#fetched.get(key);
    if (found === undefined) throw new ContentNeeded(key);
    if (found instanceof ComponentProblem) throw found;
    return found;
  }

  #place(key: string): ResourcePlace | undefined {
    for (const owner of this.#resolved.all) {
      if (!key.startsWith(nameOf(owner.component))) continue;
      const resource = owner.component.resources.find((each) => keyOf({ owner, resource: each }) === key);
      if (resource) return { owner, resource };
    }
    return undefined;
  }

  /** @throws ContentTooLarge */
  #put(key: string, content: Content): void {
    this.#contentBytes += sizeOf(content);
    const { maxContentBytes = MAX_CONTENT_BYTES } = this.#ports;
    if (this.#contentBytes > maxContentBytes)
      throw new ContentTooLarge(
        `the contents of resources that the blueprint of one installation uses have more than ${sizeText(maxContentBytes)} together; limits.downloadMiB in the configuration raises this limit`,
      );
    this.#fetched.set(key, content);
  }

  /** @throws ComponentProblem for temporary failures; permanent ones are stored and thrown by `content` */
  async fetch({ key }: ContentNeeded): Promise<void> {
    const place = this.#place(key);
    if (!place) throw new TypeError(`the component has no content ${key}`);
    try {
      this.#put(key, await fetchResource(place.owner, place.resource, this.#ports));
    } catch (error) {
      if (!(error instanceof ComponentProblem) || error.isPassing) throw error;
      this.#fetched.set(key, error);
    }
  }
}

/** A view on plain data in a worker process; contents have to be requested from the main process. */
export function viewOf(
  { source, components, targets }: ComponentData,
  fetched: FetchedContents,
): ComponentView {
  const all = components.map((component) => ({ component, repository: nowhere }));
  const found = targets.flatMap(([key, at]) => (all[at] ? [[key, all[at]] as const] : []));
  return new ComponentView(source, { all, targets: new Map(found), unverified: [] }, noPorts, fetched);
}

const unreachable = (): never => {
  throw new TypeError('a view of plain data has no repositories');
};
const nowhere: Repository = { name: 'nowhere', context: {}, find: unreachable, localBlob: unreachable };
const noPorts: ViewPorts = { registry: unreachable };

/** The blueprint and all resources that templates and schemas read are in memory at the same time. */
const MAX_CONTENT_BYTES = 64 * 2 ** 20;

const sizeOf = (content: Content): number =>
  content.kind === 'blob'
    ? content.bytes.length
    : content.layers.reduce((sum, { bytes }) => sum + bytes.length, 0);

const keyOf = ({ owner, resource }: ResourcePlace): string =>
  `${nameOf(owner.component)} ${describeSelector({ ...resource.extraIdentity, name: resource.name })} ${resource.version ?? ''}`;

/** Runs work on a component, and repeats it for each content that it needs. */
export const withContents = <T>(view: ComponentView | undefined, work: () => T | Promise<T>): Promise<T> =>
  retrying(work, (error) => {
    const needed = contentNeeded(error);
    return needed && view?.fetch(needed);
  });

/**
 * Runs work, and repeats it after each failure that `recover` handles; `recover` returns undefined otherwise. The work
 * must be repeatable.
 */
export async function retrying<T>(
  work: () => T | Promise<T>,
  recover: (error: unknown) => Promise<void> | undefined,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const recovered = recover(error);
      if (!recovered) throw error;
      await recovered;
    }
  }
}

/** Finds ContentNeeded in the cause chain, because engines wrap the errors of functions. */
export function contentNeeded(error: unknown): ContentNeeded | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ContentNeeded) return at;
  return undefined;
}
