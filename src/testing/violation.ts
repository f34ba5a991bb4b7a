/** A law that a simulated program has broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** The sentence that should always be true. */
  readonly law: string;

  constructor(law: string, what: string) {
    super(what);
    this.law = law;
  }
}
