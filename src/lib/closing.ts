/** Functions that release resources, called once, in the reverse order of their registration. */
export class Closing {
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #life = new AbortController();
  #closing: Promise<void> | undefined;

  /** Aborts before anything is closed. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#life.abort();
    for (const step of this.#steps.reverse()) await step();
  }
}
