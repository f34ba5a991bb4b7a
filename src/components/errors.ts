/** Errors about components and their contents. */
import type { Outlook } from '../lib/outlook.ts';

export class ComponentProblem extends Error {
  /** `passing` for example after a network error, or for an overloaded registry. */
  readonly outlook: Outlook = 'final';

  get isPassing(): boolean {
    return this.outlook === 'passing';
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** A registry is unreachable or has failed. */
export class RegistryUnavailable extends ComponentProblem {
  override readonly outlook = 'passing';
}

/**
 * A registry's certificate is not trusted, or the server is not a registry: the user has to change the
 * configuration.
 */
export class RegistryMisconfigured extends ComponentProblem {}

/** A registry refuses our credentials, or their permissions are not sufficient. */
export class RegistryRefused extends ComponentProblem {}

/** The content of a registry or file is invalid: damaged, too large, or of an unknown format. */
export class ContentInvalid extends ComponentProblem {}

/** The response of a registry exceeds the size limit; the message contains the configuration key. */
export class ContentTooLarge extends ContentInvalid {}

/** A blob does not exist in the repository of its component. Not used for damaged blobs. */
export class BlobMissing extends ContentInvalid {}

/** A signature is missing or invalid. */
export class SignatureInvalid extends ComponentProblem {}

/** The component version does not exist in any of the repositories. */
export class ComponentNotFound extends ComponentProblem {
  constructor(name: string, version: string, places: readonly string[]) {
    super(`component version ${name}:${version} not found in ${places.join(' and ') || 'any repository'}`);
  }
}

/** The repository context is invalid, or this process must not use it. */
export class RepositoryUnusable extends ComponentProblem {}

/** The component descriptor is invalid. */
export class DescriptorInvalid extends ComponentProblem {}

/** The component does not exist, or a path of references does not lead to a component. */
export class ReferenceInvalid extends ComponentProblem {}

/**
 * A content has not been fetched yet. Not a failure: the caller fetches it and repeats the work, because templates
 * and schemas are evaluated synchronously.
 */
export class ContentNeeded extends Error {
  override readonly name = 'ContentNeeded';
  readonly key: string;

  constructor(key: string) {
    super(`content ${key} has to be fetched first`);
    this.key = key;
  }
}
