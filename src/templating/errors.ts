/** Why a template execution has no result. The messages are upstream's, the classes tell the situations apart. */
import { templateTypes } from '../api/blueprint.ts';

/** Any failure of a template execution. */
export class RenderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The execution names no template, or one that is not there. */
export class TemplateNotFound extends RenderError {}

/** The execution's `type` is none that is known. */
export class TemplateTypeUnknown extends RenderError {
  constructor(type: string) {
    super(`unknown template type ${type}; known are ${templateTypes.join(', ')}`);
  }
}

/** The template is wrong, or fails with these values. The message holds an excerpt of its source. */
export class TemplateBroken extends RenderError {}

/** The execution was stopped from outside: it took too long or needed too much memory. */
export class TemplateStopped extends RenderError {}

/** The result contains `<no value>`: something that the template prints is missing. */
export class ResultHasNoValue extends RenderError {}

/** The result is no YAML. */
export class ResultUnreadable extends RenderError {}
