/** Functions that receive unevaluated arguments, to check whether they have a value. */
import { table } from '../../../lib/objects.ts';
import type { CallExpr, Path } from '../syntax/ast.ts';
import { print } from '../syntax/print.ts';
import { stepsOf } from '../syntax/grammar.ts';
import { isExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { isList } from '../tree/node.ts';
import type { Engine } from './engine.ts';
import { quoteString } from '../../go/quote.ts';
import { catching, sync } from './attempts.ts';
import { answer, fail, open, type Outcome } from './outcome.ts';

type SpecialForm = (engine: Engine, expr: CallExpr, binding: Binding) => Outcome;

/** Checks the arguments in order; the first that fails the check decides, if all before it are resolved. */
const everyArgument =
  (passes: (outcome: Exclude<Outcome, { kind: 'open' }>) => boolean): SpecialForm =>
  (engine, expr, binding) => {
    let isOpen = false;
    let isGood = true;
    for (const argument of expr.args) {
      const outcome = engine.evaluate(argument, binding, true);
      if (outcome.kind === 'open') isOpen = true;
      else if (!isOpen && outcome.kind === 'failed') return answer(false);
      else isGood &&= passes(outcome);
    }
    return isOpen ? open(expr) : answer(isGood);
  };

/** The value; fails for null and for expressions without a value: `require(x) || "default"`. */
const require: SpecialForm = (engine, expr, binding) => {
  const [argument] = expr.args;
  if (!argument || expr.args.length !== 1) return fail("one argument expected for 'require'");
  const outcome = engine.evaluate(argument, binding, true);
  if (outcome.kind === 'open') return open(expr);
  if (outcome.kind === 'value' && outcome.value !== null) return answer(outcome.value);
  return fail(`required expression ${quoteString(print(argument))} undefined`);
};

/** The value of the stubs at this path, or at the path in the argument. */
const stub: SpecialForm = (engine, expr, binding) => {
  const [argument] = expr.args;
  if (expr.args.length > 1) return fail("a maximum of one argument expected for 'stub'");
  let path: Path = binding.path;
  if (argument?.kind === 'reference') path = argument.path;
  else if (argument) {
    const outcome = engine.evaluate(argument, binding, true);
    if (outcome.kind === 'open') return open(expr, outcome.info);
    if (outcome.kind === 'failed') return outcome;
    const { value, info } = outcome;
    if (typeof value === 'string') path = stepsOf(value);
    else if (isList(value)) {
      const steps = value.map((step) => step.value);
      if (!steps.every((step) => typeof step === 'string')) {
        return fail('stub() requires a string entries in list', info);
      }
      path = steps;
    } else if (info.isUndefined !== true) return fail('stub() requires a string or reference argument', info);
  }
  const found = binding.findInStubs(path);
  if (!found) return fail(`'${path.join('.')}' not found in any stub`);
  return isExpr(found.value) ? open(expr) : answer(found.value);
};

const catchCall: SpecialForm = (engine, expr, binding) => {
  const [over] = expr.args;
  if (!over || expr.args.length !== 1) return fail('catch requires a single argument');
  return catching(engine, { kind: 'catch', over, body: undefined }, binding);
};

const syncCall: SpecialForm = (engine, expr, binding) => {
  const [over, condition, value, timeout] = expr.args;
  if (!over || !condition || expr.args.length > 4) return fail('2 or 3 arguments required for sync');
  return sync(engine, { kind: 'sync', over, condition, value, timeout, isFunction: true }, binding);
};

export const specialForms: Readonly<Record<string, SpecialForm>> = table({
  defined: everyArgument(({ kind, info }) => kind === 'value' && info.isUndefined !== true),
  valid: everyArgument((outcome) => outcome.kind === 'value' && outcome.value !== null),
  require,
  stub,
  catch: catchCall,
  sync: syncCall,
});
