/** Errors of template executions. The messages are upstream's; the classes distinguish the causes. */
import { templateTypes } from '../api/blueprint.ts';

/** Any failure of a template execution. */
export class RenderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The execution has no template, or references a missing file. */
export class TemplateNotFound extends RenderError {}

/** The execution's `type` is unknown. */
export class TemplateTypeUnknown extends RenderError {
  constructor(type: string) {
    super(`unknown template type ${type}; known are ${templateTypes.join(', ')}`);
  }
}

/** The template is invalid, or fails with these values. The message contains an excerpt of its source. */
export class TemplateBroken extends RenderError {}

/** The execution was stopped because it exceeded the time or memory limit of its worker. */
export class TemplateStopped extends RenderError {}

/** The result contains `<no value>`: a value that the template prints is missing. */
export class ResultHasNoValue extends RenderError {}

/** The result is not valid YAML. */
export class ResultUnreadable extends RenderError {}
