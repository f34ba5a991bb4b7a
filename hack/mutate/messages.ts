/** What the runner and its processes of tests say to each other. */

/** A test is named by its index in the list of all tests of the process. */
export interface Observed {
  readonly hasPassed: boolean;
  readonly cpuMs: number;
  /** How often a timer of 100 ms found that the process had nothing to do. */
  readonly idle: number;
  /** Mutants in code that the test runs. */
  readonly mutants: readonly number[];
}

export type Order =
  | { readonly kind: 'load'; readonly files: readonly string[] }
  /** Runs all tests once, without a mutant. */
  | { readonly kind: 'observe' }
  /** Runs tests until one fails, with one mutant. */
  | {
      readonly kind: 'try';
      readonly mutant: number;
      readonly tests: readonly { readonly index: number; readonly cpuMs: number; readonly idle: number }[];
    }
  /** Loads test files again, with one mutant (0 for none), and runs their tests until one fails. */
  | { readonly kind: 'reload'; readonly mutant: number; readonly files: readonly string[] };

export type Answer =
  | { readonly kind: 'loaded'; readonly tests: readonly { readonly file: string; readonly title: string }[] }
  | { readonly kind: 'observed'; readonly tests: readonly Observed[]; readonly onImport: readonly number[] }
  | {
      readonly kind: 'tried';
      /** The test that noticed the mutant, as index or as file. */
      readonly killer?: number;
      readonly killerFile?: string;
      /** Tests that failed with the mutant, and without it afterwards. */
      readonly unclear: readonly number[];
      /** Most tests no longer reach the mutant: what they need of its code is in a cache. */
      readonly isHidden: boolean;
    };
