/** What functions may use of the world: time, chance, files of the blueprint, and the limits of the execution. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { noFiles, type TemplateFiles } from '../files.ts';
import { LimitError } from './errors.ts';
import { byteLength } from '../go/go-string.ts';
import type { ListNode } from './ast.ts';
import type { ParsedSource } from './parse.ts';
import type { GoFunction } from './values.ts';

/** A named template and the source it comes from. */
export interface NamedTemplate {
  readonly source: ParsedSource;
  readonly body: ListNode;
}

/** Templates that call each other by name, from whatever source they are. */
export type TemplateSet = ReadonlyMap<string, NamedTemplate>;

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, GoFunction>>;

export interface TemplateLimits {
  /** Size of the output and of any single text or list a function makes. */
  readonly maxOutputBytes: number;
  /** Nodes visited plus, for large results, their size. */
  readonly maxSteps: number;
  /** Depth of `template` calls; Go allows 100000, our stack does not. */
  readonly maxRecursion: number;
  /** Milliseconds of `clock.now()` an execution may take, nested ones included. */
  readonly timeoutMs: number;
}

export const DEFAULT_LIMITS: TemplateLimits = {
  maxOutputBytes: 16 * 2 ** 20,
  maxSteps: 5_000_000,
  maxRecursion: 500,
  timeoutMs: 10_000,
};

/** How a limit is raised, for messages. */
const moreWith = (key: string): string => `; templating.${key} of the configuration allows more`;

/** What an engine says when the output grows too large. */
export const outputTooLarge = ({ maxOutputBytes }: TemplateLimits): string =>
  `the output is larger than ${String(maxOutputBytes)} bytes${moreWith('maxOutputBytes')}`;

/** A place of a template that printed `<no value>`. */
export interface MissingValue {
  readonly source: string;
  readonly pos: number;
  /** The action as it is written. */
  readonly text: string;
}

/** One execution, with everything it includes. */
export class Env {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly limits: TemplateLimits;
  readonly files: TemplateFiles;
  /** Everything that may be called; included templates have the same. */
  readonly functions: FunctionTable;
  /** What may be called by name; undefined: only what the source at hand defines. */
  templates: TemplateSet | undefined;
  /** Places that printed `<no value>`. */
  readonly missing: MissingValue[] = [];
  readonly #deadline: number;
  #steps = 0;
  #nextLook = 1024;
  #depth = 0;

  constructor(world: {
    readonly clock: Clock;
    readonly rng: Rng;
    readonly limits?: Partial<TemplateLimits>;
    readonly files?: TemplateFiles;
    readonly functions: FunctionTable;
  }) {
    this.clock = world.clock;
    this.rng = world.rng;
    this.limits = { ...DEFAULT_LIMITS, ...world.limits };
    this.files = world.files ?? noFiles;
    this.functions = world.functions;
    this.#deadline = this.clock.now() + this.limits.timeoutMs;
  }

  /** Counts work done. @throws LimitError */
  charge(steps: number): void {
    this.#steps += steps;
    if (this.#steps < this.#nextLook) return;
    this.#nextLook = this.#steps + 1024;
    if (this.#steps > this.limits.maxSteps) {
      throw new LimitError(
        `the template needs more than ${String(this.limits.maxSteps)} steps${moreWith('maxSteps')}`,
      );
    }
    if (this.clock.now() > this.#deadline) {
      throw new LimitError(
        `the template takes longer than ${String(this.limits.timeoutMs)} ms${moreWith('timeout')}`,
      );
    }
  }

  /** Asks before something of this size is made. @throws LimitError */
  reserve(size: number): void {
    if (size > this.limits.maxOutputBytes) {
      throw new LimitError(
        `a result of more than ${String(this.limits.maxOutputBytes)} bytes${moreWith('maxOutputBytes')}`,
      );
    }
    this.charge(size / 16);
  }

  checkText(text: string): void {
    if (text.length > 256) this.reserve(byteLength(text));
  }

  /** Goes one template deeper. @throws LimitError */
  enter(): void {
    if (++this.#depth > this.limits.maxRecursion) {
      throw new LimitError(`exceeded maximum template depth (${String(this.limits.maxRecursion)})`);
    }
  }

  leave(): void {
    this.#depth--;
  }
}
