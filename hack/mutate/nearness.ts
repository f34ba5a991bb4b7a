/** Which tests are nearest to a file of the product: they notice most. */
import { CHART, importDistances, KINDS } from './project.ts';

const MOST_DISTANCE = 8;

/** How far a test file is from a file of the product: the imports between them, less for each common word in their paths. */
function farness(test: string, file: string, distance: number): number {
  const kind = KINDS.indexOf(test.split('/')[1] ?? '');
  const wordsOf = (path: string): readonly string[] => path.replace(/\.\w+$/, '').split(/[/.-]/);
  const words = new Set(wordsOf(test));
  const common = wordsOf(file).filter((word) => words.has(word)).length;
  return Math.min(distance, MOST_DISTANCE) + kind - common * 3;
}

export class Nearness {
  readonly #groups: ReadonlyMap<string, readonly string[]>;
  readonly #distances: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly #known = new Map<string, Map<string, number>>();

  constructor(groups: ReadonlyMap<string, readonly string[]>) {
    this.#groups = groups;
    this.#distances = importDistances([...groups.values()].flat());
  }

  /** @returns Infinity for a test that does not import the file */
  of(file: string, test: string): number {
    const known = this.#known.get(file) ?? new Map<string, number>();
    this.#known.set(file, known);
    // Templates are read, not imported.
    const anchor = file.startsWith(CHART) ? 'test/support/product-chart.ts' : file;
    const distance = this.#distances.get(test)?.get(anchor);
    const result = known.get(test) ?? (distance === undefined ? Infinity : farness(test, file, distance));
    known.set(test, result);
    return result;
  }

  /** @returns the groups with tests that import the file, the nearest first */
  groupsOf(file: string): readonly string[] {
    return [...this.#groups]
      .map(([name, tests]) => ({ name, far: Math.min(...tests.map((test) => this.of(file, test))) }))
      .filter(({ far }) => far < Infinity)
      .sort((a, b) => a.far - b.far)
      .map(({ name }) => name);
  }

  /** @returns the nearest of some tests that import the file */
  testsOf(file: string, tests: readonly string[], most: number): readonly string[] {
    return tests
      .filter((test) => this.of(file, test) < Infinity)
      .sort((a, b) => this.of(file, a) - this.of(file, b))
      .slice(0, most);
  }
}
