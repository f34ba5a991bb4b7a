/** The port to places that hold component versions, and what is found there. */
import { verifyDigest } from './digest.ts';
import { nameOf, type Component, type JsonMap, type Resource } from './descriptor.ts';
import { ContentInvalid } from './errors.ts';

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

export interface Layer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A version as it stands in a repository; without contexts of its own it has that of the repository. */
export const inRepository = (component: Component, context: JsonMap): Component =>
  component.repositoryContexts.length > 0 ? component : { ...component, repositoryContexts: [context] };

const ALGORITHMS: Readonly<Record<string, string>> = { 'SHA-256': 'sha256', 'SHA-512': 'sha512' };

/** Compares a content with the digest in its resource, where there is one of a kind we know. @throws ContentInvalid */
export function verifyResource(component: Component, resource: Resource, content: Content): void {
  const { digest } = resource;
  const algorithm = ALGORITHMS[digest?.hashAlgorithm ?? ''];
  if (!digest || algorithm === undefined) return;
  const what = `resource ${resource.name} of component ${nameOf(component)}`;
  const expected = `${algorithm}:${digest.value}`;
  if (content.kind === 'blob' && digest.normalisationAlgorithm === 'genericBlobDigest/v1') {
    verifyDigest(content.bytes, expected, what);
  }
  if (
    content.kind === 'artifact' &&
    digest.normalisationAlgorithm === 'ociArtifactDigest/v1' &&
    content.digest !== expected
  ) {
    throw new ContentInvalid(
      `${what} is another one: its digest should be ${expected}, but is ${content.digest}`,
    );
  }
}
