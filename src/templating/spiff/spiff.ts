/**
 * Evaluates Spiff documents: values and stored state in, a value and new state out. Documents have no access to the
 * host.
 */
import { Budget, DEFAULT_LIMITS, LimitError, type TemplateLimits } from '../budget.ts';
import type { WayListener } from '../fork.ts';
import { evaluate } from './evaluate.ts';
import { CascadeFailed, type Engine, type Flowed } from './eval/engine.ts';
import { passOf } from './flow/pass.ts';
import { type FunctionWorld, type SpiffFunctionTable, Unresolvable } from './function.ts';
import { SpiffProblem } from './problem.ts';
import { parseExpression } from './syntax/parse.ts';
import { Binding, refreshScopes } from './tree/binding.ts';
import { equalNodes } from './tree/equal.ts';
import { isFields, isList, Lambda, node, Template, type Fields, type Node } from './tree/node.ts';
import { toNode } from './tree/plain.ts';
import { finished, output, stateIn, withoutLocal } from './result.ts';
import { isSpiffMap, type SpiffMap, type SpiffValue } from './value.ts';
import { unresolvedIn } from './unresolved.ts';

interface SpiffInput {
  readonly document: SpiffValue;
  /** Names that the document can refer to besides its own. */
  readonly values: SpiffMap;
  /** The state of the last job; undefined if the document has no state. */
  readonly state?: SpiffValue | undefined;
  /** Name of the document in messages. */
  readonly source: string;
}

export interface SpiffWorld extends Omit<FunctionWorld, 'call'> {
  readonly functions: SpiffFunctionTable;
  readonly limits?: Partial<TemplateLimits> | undefined;
  readonly onWay?: WayListener | undefined;
}

interface SpiffResult {
  readonly value: SpiffValue;
  /** The parts marked `&state`; an empty map if there are none. */
  readonly state: SpiffValue;
}

/**
 * Evaluates a document until nothing changes.
 * @throws SpiffProblem if a part of it has no value, or it exceeds the limits for time or size
 * @see github.com/mandelsoft/spiff flow, spiffing
 */
export function renderSpiff(
  input: SpiffInput,
  { functions, limits, onWay, ...world }: SpiffWorld,
): SpiffResult {
  const budget = new Budget(world.clock, { ...DEFAULT_LIMITS, ...limits });
  const engine = newEngine(budget, functions, world, onWay);
  const values = Binding.ofValues(toNode(input.values, 'values').value as Fields);
  try {
    const stubs = input.state === undefined ? [] : [stateStub(engine, values, input.state)];
    const result = complete(engine, values, toNode(input.document, input.source), stubs);
    return { value: output(result), state: stateIn(result) };
  } catch (error) {
    if (error instanceof CascadeFailed) {
      // The stored state is a document as well, but the author cannot see it.
      const culprit = error.culprit.source === 'stateHdl' ? undefined : error.culprit;
      throw new SpiffProblem(error.message, { cause: error, culprit });
    }
    if (error instanceof LimitError || error instanceof Unresolvable) {
      throw new SpiffProblem(error.message, { cause: error });
    }
    if (!(error instanceof RangeError)) throw error;
    throw new SpiffProblem('the document is nested too deeply', { cause: error });
  }
}

/** The stored state is a document as well, which is evaluated first. */
function stateStub(engine: Engine, values: Binding, state: SpiffValue): Node {
  const stub =
    isSpiffMap(state) && state.size === 0 ? node(new Map(), 'stateHdl') : toNode(state, 'stateHdl');
  return withoutLocal(complete(engine, values, stub, []));
}

/** @throws CascadeFailed */
function complete(engine: Engine, outer: Binding, document: Node, stubs: readonly Node[]): Node {
  const binding = Binding.ofDocument(outer, document.source, stubs);
  const { node: result, unresolved } = flowDocument(engine, document, scopeOf(document, binding), true);
  if (unresolved) throw new CascadeFailed(unresolved);
  return result;
}

function newEngine(
  budget: Budget,
  functions: SpiffFunctionTable,
  world: Engine['world'],
  onWay: WayListener | undefined,
): Engine {
  const engine: Engine = {
    budget,
    world,
    onWay,
    functions,
    projected: new Map(),
    settled: new WeakSet(),
    evaluate: (expr, binding, isLocal) => evaluate(engine, expr, binding, isLocal),
    flow: (document, binding) => flowDocument(engine, document, scopeOf(document, binding), false),
    flowPart: (part, binding) => flowDocument(engine, part, binding, false),
    cascade(binding, document, stubs) {
      const prepared: Node[] = [];
      for (const stub of [...stubs].reverse()) {
        prepared.unshift(withoutLocal(complete(engine, binding, stub, [...prepared])));
      }
      return finished(complete(engine, binding, document, prepared));
    },
    parse(text, path, stubPath) {
      budget.charge(text.length / 4);
      return parseExpression(text, path, stubPath, { hasForks: onWay !== undefined });
    },
  };
  return engine;
}

/** Paths into a document that is a list begin with its indexes. */
const scopeOf = (document: Node, here: Binding): Binding =>
  isList(document.value) ? here.withList(document.value) : here;

/** Repeats passes over a document until one changes nothing. */
function flowDocument(engine: Engine, document: Node, binding: Binding, isOverridden: boolean): Flowed {
  const pass = passOf(engine);
  let current = document;
  for (;;) {
    const next = pass.node(current, binding, isOverridden);
    if (next.isUndefined === true) {
      current = { ...node(null, next.source), isUndefined: true };
      break;
    }
    everyCallable(next, (home) => refreshScopes(home, next));
    const isDone = equalNodes(current, next);
    current = next;
    if (isDone) break;
  }
  everyCallable(current, (home) => {
    home.isActive = false;
  });
  return { node: current, unresolved: unresolvedIn(current, engine) };
}

/** Visits the scopes in which lambdas and templates of a document look up their names. */
function everyCallable({ value }: Node, visit: (home: Binding) => void): void {
  const inner = isList(value) ? value : isFields(value) ? value.values() : [];
  for (const it of inner) {
    if (it.value instanceof Lambda || it.value instanceof Template) visit(it.value.binding);
    else everyCallable(it, visit);
  }
}
