import type { Culprit } from './culprit.ts';

/** The document has no value; the message gives the reason without any values. */
export class SpiffProblem extends Error {
  /** Private, so that printing the error does not show the values in it. */
  readonly #culprit: Culprit | undefined;

  constructor(
    message: string,
    { culprit, ...options }: ErrorOptions & { readonly culprit?: Culprit | undefined } = {},
  ) {
    super(message, options);
    this.#culprit = culprit;
  }

  /** The expression to report first; undefined if none belongs to the document. */
  get culprit(): Culprit | undefined {
    return this.#culprit;
  }
}
