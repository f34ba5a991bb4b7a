/** Why a component, or something in it, cannot be had. `definite` answers stay the same when asked again. */

export class ComponentProblem extends Error {
  /** Whether asking again may help: the network, or a registry that is down or busy. */
  readonly isPassing: boolean = false;

  override get name(): string {
    return this.constructor.name;
  }
}

/** A registry cannot be reached, or has failed. */
export class RegistryUnavailable extends ComponentProblem {
  override readonly isPassing = true;
}

/** A registry is not trusted, or what answers at its address is none: somebody has to change something. */
export class RegistryMisconfigured extends ComponentProblem {}

/** A registry does not accept our credentials, or lets them do less than was asked for. */
export class RegistryRefused extends ComponentProblem {}

/** What a registry or a file holds is not what it should be: damaged, too large, of an unknown form. */
export class ContentInvalid extends ComponentProblem {}

/** What a registry answered with is larger than what is read from it; the message names the key that allows more. */
export class ContentTooLarge extends ContentInvalid {}

/** A blob is not where its component is; what is there but damaged is no such case. */
export class BlobMissing extends ContentInvalid {}

/** A signature is missing, or is not that of what was signed. */
export class SignatureInvalid extends ComponentProblem {}

/** There is no such component version in any of the places where it was looked for. */
export class ComponentNotFound extends ComponentProblem {
  constructor(name: string, version: string, places: readonly string[]) {
    super(`component version ${name}:${version} not found in ${places.join(' and ') || 'any repository'}`);
  }
}

/** The repository context makes no sense, or this process must not use it. */
export class RepositoryUnusable extends ComponentProblem {}

/** The component descriptor is no such thing. */
export class DescriptorInvalid extends ComponentProblem {}

/** The component, or the path of references to it, leads to nothing. */
export class ReferenceInvalid extends ComponentProblem {}

/**
 * A content is wanted that has not been fetched. Not a failure: whoever runs the work fetches it and runs it again,
 * because templates and schemas are worked out without waiting for anybody.
 */
export class ContentNeeded extends Error {
  override readonly name = 'ContentNeeded';
  readonly key: string;

  constructor(key: string) {
    super(`content ${key} has to be fetched first`);
    this.key = key;
  }
}
