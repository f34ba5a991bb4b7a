/** Why a chart cannot be read or rendered. Messages name chart, template, line and object, and hold no values. */

/** Any problem with a chart. */
export class HelmError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The bytes are no chart, or one that breaks the rules of charts. */
export class ChartInvalid extends HelmError {}

/** The work on a chart was stopped from outside: it took too long or needed too much memory. */
export class ChartStopped extends HelmError {}

/** The values do not go with the chart: another type than its subcharts need, or not what its schema asks for. */
export class ValuesInvalid extends HelmError {}

/** A template cannot be parsed, or fails with these values. */
export class ChartTemplateFailed extends HelmError {}

/** What a template printed is no YAML. */
export class ManifestUnreadable extends HelmError {}
