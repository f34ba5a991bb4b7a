/** Checks a component version in its repository and reports errors. */
import { fetchResource } from './access.ts';
import { nameOf, type Resource } from './descriptor.ts';
import { ComponentProblem, RepositoryUnusable } from './errors.ts';
import type { FoundComponent } from './repository.ts';
import { verifySignature, type Trust } from './signature.ts';
import { verifyReference } from './verify.ts';

export interface Findings {
  /** Resources whose content was fetched and matches the digest. */
  readonly verified: readonly string[];
  /** Resources that were fetched but have no digest; references without a digest. */
  readonly unverified: readonly string[];
  /** Resources and references in other places, which are not fetched. */
  readonly notFetched: readonly string[];
  /** Messages about errors. */
  readonly problems: readonly string[];
}

export interface RequiredSignature {
  readonly signatureName: string;
  readonly trust: Trust;
}

const LOCAL_ACCESS = /^(?:localBlob|localOciBlob|localFilesystemBlob|relativeOciReference)(?:\/|$)/;

/**
 * Fetches all contents of the version and verifies digests and, if required, the signature.
 * @throws RegistryUnavailable and RegistryRefused; errors in the component are part of the result
 */
export async function inspect(
  { component, repository }: FoundComponent,
  required: RequiredSignature | undefined,
): Promise<Findings> {
  const verified: string[] = [];
  const unverified: string[] = [];
  const notFetched: string[] = [];
  const problems: string[] = [];
  const collectProblem = async (work: () => unknown): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof ComponentProblem) || error.isPassing) throw error;
      problems.push(error.message);
      return false;
    }
  };
  for (const resource of component.resources) {
    if (!isLocalAccess(resource)) notFetched.push(resource.name);
    else if (
      await collectProblem(() => fetchResource({ component, repository }, resource, noOtherRegistry))
    ) {
      (resource.digest ? verified : unverified).push(resource.name);
    }
  }
  for (const reference of component.references) {
    await collectProblem(async () => {
      const target = await repository.find(reference.componentName, reference.version);
      if (!target) notFetched.push(nameOf({ name: reference.componentName, version: reference.version }));
      else if (!verifyReference(component, reference, target.component))
        unverified.push(`reference ${reference.name}`);
    });
  }
  if (required) {
    await collectProblem(() => {
      verifySignature(component, required.signatureName, required.trust);
    });
  }
  return { verified, unverified, notFetched, problems };
}

const isLocalAccess = ({ access }: Resource): boolean =>
  access !== undefined && LOCAL_ACCESS.test(access.type);

const noOtherRegistry = {
  registry: (address: string): never => {
    throw new RepositoryUnusable(`registry ${address} is not used here`);
  },
};
