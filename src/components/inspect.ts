/** Looks at a component version as it lies somewhere, and says what is wrong with it. */
import { fetchResource } from './access.ts';
import { nameOf, type Resource } from './descriptor.ts';
import { ComponentProblem, RepositoryUnusable } from './errors.ts';
import type { FoundComponent } from './repository.ts';
import { verifySignature, type Trust } from './signature.ts';
import { verifyReference } from './verify.ts';

export interface Findings {
  /** Resources whose contents are here and what their digests say. */
  readonly sound: readonly string[];
  /** Resources whose contents are here, and that have no digest to compare with; references that prove nothing. */
  readonly unverified: readonly string[];
  /** Resources and references that lead to other places, which are not looked at. */
  readonly notFetched: readonly string[];
  /** Sentences. */
  readonly problems: readonly string[];
}

export interface Demand {
  readonly signatureName: string;
  readonly trust: Trust;
}

const HERE = /^(?:localBlob|localOciBlob|localFilesystemBlob|relativeOciReference)(?:\/|$)/;

/**
 * Reads every content that belongs to the version, and compares digests and, where it is demanded, the signature.
 * @throws RegistryUnavailable and RegistryRefused; what is wrong with the component is in the answer
 */
export async function inspect(
  { component, repository }: FoundComponent,
  demand: Demand | undefined,
): Promise<Findings> {
  const sound: string[] = [];
  const unverified: string[] = [];
  const notFetched: string[] = [];
  const problems: string[] = [];
  const noting = async (work: () => unknown): Promise<boolean> => {
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
    if (!isHere(resource)) notFetched.push(resource.name);
    else if (await noting(() => fetchResource({ component, repository }, resource, nowhereElse))) {
      (resource.digest ? sound : unverified).push(resource.name);
    }
  }
  for (const reference of component.references) {
    await noting(async () => {
      const target = await repository.find(reference.componentName, reference.version);
      if (!target) notFetched.push(nameOf({ name: reference.componentName, version: reference.version }));
      else if (!verifyReference(component, reference, target.component))
        unverified.push(`reference ${reference.name}`);
    });
  }
  if (demand) {
    await noting(() => {
      verifySignature(component, demand.signatureName, demand.trust);
    });
  }
  return { sound, unverified, notFetched, problems };
}

const isHere = ({ access }: Resource): boolean => access !== undefined && HERE.test(access.type);

const nowhereElse = {
  registry: (address: string): never => {
    throw new RepositoryUnusable(`registry ${address} is not used here`);
  },
};
