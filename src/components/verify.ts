/** Verifies fetched contents and referenced components with the digests in descriptors. */
import { artifactDigest } from './artifact-set.ts';
import { nameOf, type Component, type Digest, type Reference, type Resource } from './descriptor.ts';
import { hashName, verifyDigest } from './digest.ts';
import { ContentInvalid } from './errors.ts';
import { componentDigest, isNormalisation, withoutDigest } from './normalise.ts';
import type { Content } from './repository.ts';

/** Placeholder in place of a digest, for contents that are signed without one. */
const NO_DIGEST = 'NO-DIGEST';

/**
 * Verifies the digest of a resource, if there is one.
 * @throws ContentInvalid with the resource and both digests, or the reason why they cannot be compared
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
      const found = content.kind === 'artifact' ? content.digest : await artifactDigest(content.bytes, what);
      if (found === expected) return;
      throw new ContentInvalid(`${what} has changed: its digest is ${found}, expected ${expected}`);
    }
    default:
  }
  throw new ContentInvalid(
    `${what} has a digest with the normalisation ${digest.normalisationAlgorithm}, which cannot be compared with ${content.kind === 'blob' ? 'a blob' : 'an artifact in a registry'}`,
  );
}

/**
 * Verifies the digest of a reference to a component.
 * @returns whether the digest covers the component: if the component has no digests for some of its contents, a
 * signature of the referencing component does not cover them
 * @throws ContentInvalid with the reference, the component and both digests
 */
export function verifyReference(
  from: Pick<Component, 'name' | 'version'>,
  reference: Reference,
  target: Component,
): boolean {
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
  throw new ContentInvalid(
    `${what} has a digest with the algorithm ${hashAlgorithm}, which is not supported`,
  );
}
