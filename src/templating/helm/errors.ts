/** Errors about charts. Messages contain chart, template, line and object, but no values. */
import type { Outlook } from '../../lib/outlook.ts';

/** Base class of all errors about charts. */
export class HelmError extends Error {
  /** The same chart with the same values fails again. */
  readonly outlook: Outlook = 'final';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The archive is not a chart, or the chart is invalid. */
export class ChartInvalid extends HelmError {}

/** The work on a chart was stopped because it exceeded the time or memory limit of its worker. */
export class ChartStopped extends HelmError {}

/** The values do not fit the chart: a wrong type for a subchart, or a violation of its schema. */
export class ValuesInvalid extends HelmError {}

/** A template cannot be parsed, or fails with these values. */
export class ChartTemplateFailed extends HelmError {}

/** The output of a template is not valid YAML. */
export class ManifestUnreadable extends HelmError {}
