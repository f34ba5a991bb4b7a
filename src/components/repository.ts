/** The interface of component repositories. */
import type { Component, JsonMap } from './descriptor.ts';

export interface Repository {
  /** For messages. */
  readonly name: string;
  /** Repository context of the repository. */
  readonly context: JsonMap;
  /** undefined if the version does not exist */
  find(name: string, version: string): Promise<FoundComponent | undefined>;
  /** A blob of a component version; `reference` comes from its access. */
  localBlob(component: Component, reference: string): Promise<LocalBlob>;
  /** The layers of an artifact relative to the repository; undefined if the repository type has no artifacts. */
  readonly relativeArtifact?: (reference: string) => Promise<Content>;
}

export interface LocalBlob {
  readonly bytes: Uint8Array;
  /** Of the layer that contains the blob; undefined for blobs in files. */
  readonly mediaType?: string;
}

export interface FoundComponent {
  readonly component: Component;
  readonly repository: Repository;
  /** Size of the descriptor, see `SizedComponent`; undefined if sizes are not limited. */
  readonly bytes?: number;
}

/** The content of a resource. */
export type Content =
  | { readonly kind: 'blob'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'artifact'; readonly digest: string; readonly layers: readonly Layer[] };

interface Layer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A version in a repository; without a repository context of its own, it gets the repository's. */
export const inRepository = (component: Component, context: JsonMap): Component =>
  component.repositoryContexts.length > 0 ? component : { ...component, repositoryContexts: [context] };
