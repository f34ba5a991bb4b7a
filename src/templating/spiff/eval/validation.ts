/** `validate(value, condition…)` returns the value or fails; `check` returns whether the conditions hold. */
import { table } from '../../../lib/objects.ts';
import type { Binding } from '../tree/binding.ts';
import { isList, Lambda, type Value } from '../tree/node.ts';
import { typeName } from '../value.ts';
import type { Engine } from './engine.ts';
import { callLambda } from './lambdas.ts';
import { answer, fail, open, type Outcome } from './outcome.ts';
import { isTruthy } from './truth.ts';
import { ConditionProblem, textOf, validators, verdict, type Check, type Verdict } from './validators.ts';

/** A lambda among the conditions is not resolved yet. */
class ConditionOpen extends Error {}

/** Conditions: a word, a lambda, or a list of one of these and its arguments; `!word` negates it. */
function asker(engine: Engine, binding: Binding): Check['ask'] {
  const ask: Check['ask'] = (value, condition) => {
    engine.budget.charge(1);
    if (condition === null) return { holds: true, text: 'no condition' };
    if (isList(condition)) {
      const [operator, ...args] = condition.map((entry) => entry.value as Value);
      if (operator === undefined) throw new ConditionProblem('validation type missing');
      return by(operator, value, args);
    }
    if (typeof condition === 'string' || condition instanceof Lambda) return by(condition, value, []);
    throw new ConditionProblem(`invalid validation check type: ${typeName(condition)}`);
  };
  const by = (operator: Value, value: Value, args: readonly Value[]): Verdict => {
    if (operator instanceof Lambda) return byLambda(engine, operator, [value, ...args], binding);
    if (typeof operator !== 'string') {
      throw new ConditionProblem(`unexpected validation type "${typeName(operator)}"`);
    }
    if (operator === '') throw new ConditionProblem('empty validator type');
    const isNegated = operator.startsWith('!');
    const name = isNegated ? operator.slice(1) : operator;
    const validator = Object.hasOwn(validators, name) ? validators[name] : undefined;
    if (!validator) throw new ConditionProblem(`unknown validation operator "${name}"`);
    const { holds, text } = validator({ value, args, ask });
    return { holds: (isNegated !== (name === 'not')) !== holds, text };
  };
  return ask;
}

/** It returns a boolean, or a list of a boolean and the messages for both cases. */
function byLambda(engine: Engine, lambda: Lambda, args: readonly Value[], binding: Binding): Verdict {
  const expected = lambda.expr.parameters.length;
  if (expected !== args.length) {
    throw new ConditionProblem(
      `argument count mismatch for lambda ${lambda.text}: expected ${expected}, found ${args.length}`,
    );
  }
  const outcome = callLambda(engine, lambda, args, binding);
  if (outcome.kind === 'failed') throw new ConditionProblem(outcome.info.issue?.text ?? '');
  if (outcome.kind !== 'value') throw new ConditionOpen();
  const answers = isList(outcome.value) ? outcome.value.map((it) => it.value as Value) : [outcome.value];
  const [first = null, good, bad] = answers;
  if (answers.length === 0 || answers.length > 3) {
    throw new ConditionProblem(`invalid result length of validator ${lambda.text}, got ${answers.length}`);
  }
  const texts = [good, bad].map((text) =>
    text === undefined ? undefined : textOf('lambda validator', text),
  );
  const [ifGood = `${lambda.text} succeeded`, ifBad = texts[0] ?? `${lambda.text} failed`] = texts;
  return verdict(isTruthy(first), ifGood, ifBad);
}

type Validation = (engine: Engine, args: readonly Value[], binding: Binding) => Outcome;

const validation =
  (
    name: string,
    onFailure: (i: number, text: string) => Outcome,
    onSuccess: (value: Value) => Outcome,
  ): Validation =>
  (engine, args, binding) => {
    const [value = null, ...conditions] = args;
    if (conditions.length === 0) return fail(`at least two arguments required for ${name}`);
    const ask = asker(engine, binding);
    for (const [i, condition] of conditions.entries()) {
      try {
        const { holds, text } = ask(value, condition);
        if (!holds) return onFailure(i + 1, text);
      } catch (error) {
        if (error instanceof ConditionOpen) return open({ kind: 'nil' });
        if (!(error instanceof ConditionProblem)) throw error;
        return fail(`condition ${i + 1} has problem: ${error.message}`);
      }
    }
    return onSuccess(value);
  };

export const validationFunctions: Readonly<Record<string, Validation>> = table({
  validate: validation('validate', (i, text) => fail(`condition ${i} failed: ${text}`), answer),
  check: validation(
    'check',
    () => answer(false),
    () => answer(true),
  ),
});
