/** The environment of functions: time, random source, files of the blueprint, and the limits of the execution. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { Budget, DEFAULT_LIMITS, type TemplateLimits } from '../budget.ts';
import { noFiles, type TemplateFiles } from '../files.ts';
import type { WayListener } from '../fork.ts';
import type { ListNode } from './ast.ts';
import type { ParsedSource } from './parse.ts';
import type { GoFunction } from './values.ts';

/** A named template and its source. */
export interface NamedTemplate {
  readonly source: ParsedSource;
  readonly body: ListNode;
}

/** Templates that call each other by name, from any source. */
type TemplateSet = ReadonlyMap<string, NamedTemplate>;

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** A place in a template that printed `<no value>`. */
interface MissingValue {
  readonly source: string;
  readonly pos: number;
  /** The source text of the action. */
  readonly text: string;
}

/** The start of a part of the output, and the part of the source that wrote it. */
export interface OutputMark {
  readonly at: number;
  readonly source: string;
  readonly pos: number;
  /** Whether the output is the same text as the source. */
  readonly isText: boolean;
}

/** One execution, including its included files. */
export class Env extends Budget {
  readonly rng: Rng;
  readonly files: TemplateFiles;
  /** All functions; included templates have the same ones. */
  readonly functions: FunctionTable;
  /** All named templates; undefined: only those of the current source. */
  templates: TemplateSet | undefined;
  /** Places that printed `<no value>`. */
  readonly missing: MissingValue[] = [];
  /** The origin of each part of one output; only recorded on request. */
  trace: { readonly output: object; readonly marks: OutputMark[] } | undefined;

  readonly onWay: WayListener | undefined;

  constructor(world: {
    readonly clock: Clock;
    readonly rng: Rng;
    readonly limits?: Partial<TemplateLimits>;
    readonly deadline?: number;
    readonly files?: TemplateFiles;
    readonly functions: FunctionTable;
    readonly onWay?: WayListener | undefined;
  }) {
    super(world.clock, { ...DEFAULT_LIMITS, ...world.limits }, world.deadline);
    this.rng = world.rng;
    this.files = world.files ?? noFiles;
    this.functions = world.functions;
    this.onWay = world.onWay;
  }
}
