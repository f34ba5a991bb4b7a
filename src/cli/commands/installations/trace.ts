/** `espalier installations trace`: where the value of an import is from, and what uses it. */
import { withNamed } from '../../named-objects.ts';
import { dataObjectKind, type DataObject } from '../../../api/kinds/dataobject.ts';
import { targetKind, type Target } from '../../../api/kinds/target.ts';
import { closest } from '../../../lib/closest.ts';
import { exactJson } from '../../../lib/exact-json.ts';
import { append } from '../../../lib/lists.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import type { NamespacedOptions } from '../../cluster.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { printValue } from '../../terminal/documents.ts';
import type { ReportFormat } from '../../terminal/output-option.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { landscapeOf, type Inst, type Landscape } from '../../trace/landscape.ts';
import { importNames, sourcesOf } from '../../trace/sources.ts';
import { someStep, type TraceStep } from '../../trace/step.ts';
import { usesOf } from '../../trace/uses.ts';
import { collect } from '../../tree/collect.ts';
import { MASK } from '../blueprints/rendering/mask.ts';
import { selfCommand } from '../../self-command.ts';

export interface TraceOptions extends NamespacedOptions {
  readonly output: ReportFormat;
}

/** @returns 1 if an object on the way does not exist */
export async function trace(
  printed: string,
  importName: string,
  options: TraceOptions,
  terminal: Terminal,
): Promise<number> {
  return withNamed(printed, options, terminal, async ({ client, namespace }, name) => {
    const [collected, dataObjects, targets] = await Promise.all([
      collect(client, namespace),
      all<DataObject>(client, dataObjectKind, namespace),
      all<Target>(client, targetKind, namespace),
    ]);
    const landscape = landscapeOf(namespace, { ...collected, dataObjects, targets });
    const self = landscape.installation(name);
    if (!self)
      throw new CommandError(
        `there is no installation ${name} in namespace ${namespace}; choose another with -n, ` +
          `or list all with: ${selfCommand()} installations inspect -A`,
      );
    const found = traceOf(self, importName, landscape);
    if (options.output !== 'text') terminal.print(printValue(found, options.output));
    else for (const line of linesOf(found)) terminal.print(line);
    return someStep(found.from, ({ isMissing }) => isMissing === true) ? exitCodes.failed : exitCodes.ok;
  });
}

interface Trace {
  readonly installation: string;
  readonly import: string;
  readonly kind: 'data' | 'target';
  /** In the last job; masked if it is secret. Undefined for targets, and before the first job. */
  readonly value?: unknown;
  readonly from: readonly TraceStep[];
  readonly to: readonly TraceStep[];
}

/** @throws CommandError if there is no such import */
function traceOf(self: Inst, name: string, landscape: Landscape): Trace {
  const sources = sourcesOf(self, name, landscape);
  const path = landscape.pathOf(self);
  if (!sources) {
    const names = importNames(self);
    const meant = closest(name, [...names]);
    throw new CommandError(
      `installation ${path} has no import ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}; ` +
        (names.length === 0 ? 'it has no imports' : `its imports are ${names.join(', ')}`),
    );
  }
  const { flow, steps } = sources;
  const value = flow === 'data' ? landscape.importedValue(self, name) : undefined;
  const isSecret = someStep(steps, (step) => step.isSecret === true);
  return {
    installation: path,
    import: name,
    kind: flow,
    ...(value !== undefined && { value: isSecret ? MASK : value }),
    from: steps,
    to: usesOf(self, name, flow, landscape),
  };
}

async function all<T extends Obj>(client: Client, kind: Kind<T>, namespace: string): Promise<T[]> {
  const objects: T[] = [];
  for await (const page of client.list(kind, { namespace })) append(objects, page.items);
  return objects;
}

// ---------------------------------------------------------------- output

function linesOf({ installation, import: name, kind, value, from, to }: Trace): readonly string[] {
  return [
    `import ${name} of installation ${installation}`,
    ...(kind === 'target'
      ? []
      : [`value in the last job: ${value === undefined ? 'none yet' : shown(value)}`]),
    '',
    'from',
    ...stepLines(from, '  '),
    '',
    'to',
    ...(to.length === 0 ? ['  no sub-installation and no deploy item was found'] : stepLines(to, '  ')),
  ];
}

const MAX_SHOWN = 500;
function shown(value: unknown): string {
  const text = value === MASK ? MASK : exactJson(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}

const stepLines = (steps: readonly TraceStep[], indent: string): readonly string[] =>
  steps.flatMap(({ text, steps: next }) => [`${indent}${text}`, ...stepLines(next, `${indent}  `)]);
