/**
 * Errors of a blueprint and its results: one class for each situation, with the reason that is written to the status.
 */
import type { ErrorCode } from '../api/error-codes.ts';

export interface ProblemOptions {
  readonly cause?: unknown;
  readonly codes?: readonly ErrorCode[];
}

/**
 * Base of all. `reason` is upstream's (for example `SchemaValidationFailed`); `codes` go to lastError. The error ends
 * the job.
 */
export class BlueprintProblem extends Error {
  readonly reason: string;
  readonly codes: readonly ErrorCode[];

  constructor(reason: string, message: string, { cause, codes = [] }: ProblemOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.reason = reason;
    this.codes = codes;
  }
}

/** The referenced blueprint is not available. */
export class BlueprintUnavailable extends BlueprintProblem {
  readonly ref: string;

  constructor(ref: string, why: string, cause?: unknown) {
    super('ResolveBlueprint', `blueprint ${ref} is not available: ${why}`, { cause });
    this.ref = ref;
  }
}

/** blueprint.yaml, or a file that it refers to, is invalid. */
export class BlueprintInvalid extends BlueprintProblem {
  constructor(message: string, cause?: unknown) {
    super('ResolveBlueprint', message, { cause });
  }
}

/** A declared, required import has no value. */
export class ImportNotSatisfied extends BlueprintProblem {
  constructor(name: string, type: string) {
    super('ImportNotFound', `blueprint defines import "${name}" of type ${type}, which is not satisfied`);
  }
}

/** A value does not fit its schema or target type. */
export class SchemaValidationFailed extends BlueprintProblem {
  constructor(message: string, cause?: unknown) {
    super('SchemaValidationFailed', message, { cause });
  }
}

/** A definition of the blueprint is invalid: unknown type, unusable default … */
export class DefinitionInvalid extends BlueprintProblem {
  constructor(message: string, cause?: unknown) {
    super('InvalidDefinition', message, { cause });
  }
}

/** The import executions rejected the imports: their `errors`. */
export class ImportsRejected extends BlueprintProblem {
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    super('ImportValidationFailed', `import validation failed: ${errors.join(', ')}`);
    this.errors = errors;
  }
}

/** The value that a binding gives to a target import cannot be the content of a Target. */
export class NotStorable extends BlueprintProblem {}

/** A template cannot be rendered, or its result cannot be read. */
export class TemplateFailed extends BlueprintProblem {
  constructor(message: string, options: ProblemOptions = {}) {
    super('Template', message, options);
  }
}

/** A deploy item template is invalid. */
export class DeployItemsInvalid extends BlueprintProblem {
  constructor(message: string) {
    super('ValidateDeployItems', message);
  }
}

/** The templates of sub-installations do not fit together. */
export class SubInstallationsInvalid extends BlueprintProblem {
  constructor(message: string, options: ProblemOptions = {}) {
    super('ValidateSubInstallations', message, options);
  }
}

/** An export is missing or has the wrong type. */
export class ExportInvalid extends BlueprintProblem {
  constructor(message: string, cause?: unknown) {
    super('ConstructExports', message, { cause });
  }
}
