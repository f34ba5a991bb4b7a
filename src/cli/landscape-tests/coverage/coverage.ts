/** Which parts of a landscape no case has touched. Pure. */
import { partKinds, type Part } from './inventory.ts';

/** What one case has touched. Plain data. */
export interface Touched {
  /** Paths of installations whose jobs have rendered templates. */
  readonly started: readonly string[];
  /** Paths of installations whose jobs have succeeded, so that their exports were rendered. */
  readonly succeeded: readonly string[];
  /** `PATH NAME` of the imports that installations had. */
  readonly imports: readonly string[];
  /** Ids of the branches that templates took. */
  readonly branches: readonly string[];
}

/** The coverage of one landscape. */
export interface Coverage {
  /** The folder of its first root. */
  readonly landscape: string;
  readonly counts: readonly {
    readonly kind: Part['kind'];
    readonly touched: number;
    readonly all: number;
  }[];
  readonly untouched: readonly Part[];
}

export function coverageOf(landscape: string, parts: readonly Part[], cases: readonly Touched[]): Coverage {
  const started = new Set(cases.flatMap((one) => one.started));
  const succeeded = new Set(cases.flatMap((one) => one.succeeded));
  const imports = new Set(cases.flatMap((one) => one.imports));
  const branches = new Set(cases.flatMap((one) => one.branches));
  const isTouched = ({ path, kind, name, isLate, branch }: Part): boolean => {
    if (branch !== undefined) return branches.has(branch);
    if (kind === 'import') return imports.has(`${path} ${name}`);
    return isLate ? succeeded.has(path) : started.has(path);
  };
  return {
    landscape,
    counts: partKinds.map((kind) => {
      const all = parts.filter((part) => part.kind === kind);
      return { kind, touched: all.filter(isTouched).length, all: all.length };
    }),
    untouched: parts.filter((part) => !isTouched(part)),
  };
}

const PLURALS: Readonly<Record<Part['kind'], string>> = {
  installation: 'installations',
  import: 'imports',
  template: 'templates',
  branch: 'branches',
  export: 'exports',
};

/** Lines for people. */
export function coverageLines({ landscape, counts, untouched }: Coverage): readonly string[] {
  const shown = counts
    .filter(({ all }) => all > 0)
    .map(({ kind, touched, all }) => `${String(touched)} of ${String(all)} ${PLURALS[kind]}`);
  return [
    `${landscape}: cases touch ${shown.join(', ')}`,
    ...(untouched.length > 0 ? ['  touched by no case:'] : []),
    ...untouched.map(({ path, kind, name }) =>
      kind === 'installation' ? `    installation ${path}` : `    ${kind} of ${path}: ${name}`,
    ),
  ];
}
