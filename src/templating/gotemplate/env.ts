/** What functions may use of the world: time, chance, files of the blueprint, and the limits of the execution. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { Budget, DEFAULT_LIMITS, type TemplateLimits } from '../budget.ts';
import { noFiles, type TemplateFiles } from '../files.ts';
import type { ListNode } from './ast.ts';
import type { ParsedSource } from './parse.ts';
import type { GoFunction } from './values.ts';

/** A named template and the source it comes from. */
export interface NamedTemplate {
  readonly source: ParsedSource;
  readonly body: ListNode;
}

/** Templates that call each other by name, from whatever source they are. */
type TemplateSet = ReadonlyMap<string, NamedTemplate>;

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** A place of a template that printed `<no value>`. */
interface MissingValue {
  readonly source: string;
  readonly pos: number;
  /** The action as it is written. */
  readonly text: string;
}

/** Where a piece of the output begins, and the part of a source that wrote it. */
export interface OutputMark {
  readonly at: number;
  readonly source: string;
  readonly pos: number;
  /** Its text goes on in the source as it does in the output. */
  readonly isText: boolean;
}

/** One execution, with everything it includes. */
export class Env extends Budget {
  readonly rng: Rng;
  readonly files: TemplateFiles;
  /** Everything that may be called; included templates have the same. */
  readonly functions: FunctionTable;
  /** What may be called by name; undefined: only what the source at hand defines. */
  templates: TemplateSet | undefined;
  /** Places that printed `<no value>`. */
  readonly missing: MissingValue[] = [];
  /** Where each piece of one output comes from; nobody notes it unless asked. */
  trace: { readonly output: object; readonly marks: OutputMark[] } | undefined;

  constructor(world: {
    readonly clock: Clock;
    readonly rng: Rng;
    readonly limits?: Partial<TemplateLimits>;
    readonly deadline?: number;
    readonly files?: TemplateFiles;
    readonly functions: FunctionTable;
  }) {
    super(world.clock, { ...DEFAULT_LIMITS, ...world.limits }, world.deadline);
    this.rng = world.rng;
    this.files = world.files ?? noFiles;
    this.functions = world.functions;
  }
}
