/** The changes that `make mutate` makes to the templates of the chart. */
import type { Mutant, Operator } from './operators.ts';

/** @returns all possible changes of a template of a chart */
export function templateMutantsOf(source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  let at = 0;
  let isComment = false;
  for (const line of source.split('\n')) {
    const start = at;
    at += line.length + 1;
    isComment ||= /\{\{-?\s*\/\*/.test(line);
    if (!isComment && !/^\s*(#|$)/.test(line))
      for (const [operator, from, to, replacement] of changesOf(line))
        found.push({
          operator,
          slot: 'statement',
          start: start + from,
          end: start + to,
          replacement,
          isStatic: false,
        });
    if (/\*\/\s*-?\}\}/.test(line)) isComment = false;
  }
  return found;
}

type Change = readonly [operator: Operator, from: number, to: number, replacement: string];

function changesOf(line: string): readonly Change[] {
  const [head = '', before = '', condition = ''] =
    /^(.*?\{\{-?\s*(?:else )?if )(.*?)\s*-?\}\}/.exec(line) ?? [];
  if (head !== '') {
    const from = before.length;
    return [['negate if', from, from + condition.length, `not (${condition})`]];
  }
  // An item or a key that holds more lines cannot go without them.
  if (/^\s*- [^{}]*[^{}:\s]\s*$/.test(line) && !/^\s*- [\w./"-]+: /.test(line))
    return [['drop item', 0, line.length, '']];
  const flow = /\[([^\]{}]*,[^\]{}]*)\]/.exec(line);
  if (flow) {
    const items = (flow[1] ?? '').split(',');
    const from = flow.index + 1;
    return items.map((_, i) => {
      const rest = items.filter((_, j) => j !== i).join(',');
      return ['drop item', from, from + (flow[1] ?? '').length, rest] as const;
    });
  }
  if (/^\s+[\w./"-]+: \S/.test(line) && !/[|>]-?\s*$/.test(line)) return [['drop key', 0, line.length, '']];
  if (/^\s*\{\{-? include .*\}\}\s*$/.test(line)) return [['drop include', 0, line.length, '']];
  return [];
}
