/** The port to places that hold component versions, and what is found there. */
import type { Component, JsonMap } from './descriptor.ts';

export interface Repository {
  /** For messages. */
  readonly name: string;
  /** The context that leads to it. */
  readonly context: JsonMap;
  /** undefined when there is no such version */
  find(name: string, version: string): Promise<FoundComponent | undefined>;
  /** A blob that belongs to a component version; `reference` as its access says. */
  localBlob(component: Component, reference: string): Promise<Uint8Array>;
  /** The layers of an artifact relative to the repository; undefined where there is no such thing. */
  readonly relativeArtifact?: (reference: string) => Promise<Content>;
}

export interface FoundComponent {
  readonly component: Component;
  readonly repository: Repository;
}

/** What a resource consists of. */
export type Content =
  | { readonly kind: 'blob'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'artifact'; readonly digest: string; readonly layers: readonly Layer[] };

interface Layer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A version as it stands in a repository; without contexts of its own it has that of the repository. */
export const inRepository = (component: Component, context: JsonMap): Component =>
  component.repositoryContexts.length > 0 ? component : { ...component, repositoryContexts: [context] };
