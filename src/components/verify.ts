/** Compares what was fetched with the digests in descriptors: of resources, and of the components they refer to. */
import { artifactIn } from './artifact-set.ts';
import { nameOf, type Component, type Digest, type Reference, type Resource } from './descriptor.ts';
import { hashName, verifyDigest } from './digest.ts';
import { ContentInvalid } from './errors.ts';
import { componentDigest, isNormalisation, withoutDigest } from './normalise.ts';
import type { Content } from './repository.ts';

/** Stands where a digest would stand, for contents that are signed without one. */
const NO_DIGEST = 'NO-DIGEST';

/**
 * Compares a content with the digest in its resource, where there is one.
 * @throws ContentInvalid naming resource and both digests, or why it cannot be compared
 */
export async function verifyResource(
  component: Component,
  resource: Resource,
  content: Content,
): Promise<void> {
  const { digest } = resource;
  if (!digest || digest.hashAlgorithm === NO_DIGEST) return;
  const what = `resource ${resource.name} of component ${nameOf(component)}`;
  const expected = `${algorithmOf(digest, what)}:${digest.value.toLowerCase()}`;
  switch (digest.normalisationAlgorithm) {
    case 'genericBlobDigest/v1':
      if (content.kind === 'blob') {
        verifyDigest(content.bytes, expected, what);
        return;
      }
      break;
    case 'ociArtifactDigest/v1': {
      const found = content.kind === 'artifact' ? content.digest : await artifactIn(content.bytes, what);
      if (found === expected) return;
      throw new ContentInvalid(`${what} has changed: its digest is ${found}, expected ${expected}`);
    }
    default:
  }
  throw new ContentInvalid(
    `${what} has a digest of the kind ${digest.normalisationAlgorithm}, which cannot be compared with ${content.kind === 'blob' ? 'a blob' : 'an artifact in a registry'}`,
  );
}

/**
 * Compares a component with the digest that a reference to it has.
 * @returns whether they could be compared: where the component does not say the digests of all it consists of, nothing
 * can be said of the whole, and whoever relies on a signature above must not take it
 * @throws ContentInvalid naming the reference, the component and both digests
 */
export function verifyReference(from: Component, reference: Reference, target: Component): boolean {
  const digest = reference.digest;
  if (!digest || digest.hashAlgorithm === NO_DIGEST || !isNormalisation(digest.normalisationAlgorithm))
    return false;
  if (withoutDigest(target).length > 0) return false;
  const found = componentDigest(target, digest);
  if (found === digest.value.toLowerCase()) return true;
  throw new ContentInvalid(
    `reference ${reference.name} of component ${nameOf(from)} refers to a different ${nameOf(target)}: its digest is ${found}, expected ${digest.value}`,
  );
}

function algorithmOf({ hashAlgorithm }: Digest, what: string): string {
  const name = hashName(hashAlgorithm);
  if (name !== undefined) return name;
  throw new ContentInvalid(`${what} has a digest made with ${hashAlgorithm}, which cannot be checked here`);
}
