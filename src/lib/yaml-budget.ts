/** Counts what YAML stands for while it is read: a few characters with aliases can stand for gigabytes. */
import { BYTES_OF_VALUE } from './json-scan.ts';
import { YamlTooLarge } from './yaml-error.ts';
import { sizeText } from './sizes.ts';

/** The bytes of the values of one text, or of several that are joined. */
export class YamlBudget {
  readonly #limit: number;
  #taken = 0;

  /** @param limit bytes, where a value counts at least 32 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param line 0-based. @throws YamlTooLarge */
  takeValue(characters: number, line: number): void {
    this.#take(Math.max(characters, BYTES_OF_VALUE), line);
  }

  /** @param line 0-based. @throws YamlTooLarge */
  takeKey(characters: number, line: number): void {
    this.#take(characters, line);
  }

  #take(bytes: number, line: number): void {
    this.#taken += bytes;
    if (this.#taken <= this.#limit) return;
    throw new YamlTooLarge(
      `yaml: line ${String(line + 1)}: the values, with their aliases, have more than ${sizeText(this.#limit)}, where a value counts at least ${String(BYTES_OF_VALUE)} bytes`,
      line + 1,
    );
  }
}
