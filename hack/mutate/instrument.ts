/**
 * Writes all chosen mutants of a file into its code, each behind a switch: `__mutant(7)` is true while mutant 7 is on. One
 * process can thus try many mutants without loading the code again.
 */
import type { Mutant } from './operators.ts';

interface Numbered extends Mutant {
  readonly id: number;
}

const RANKS: Readonly<Record<Mutant['slot'], number>> = {
  statement: 0,
  member: 1,
  element: 1,
  expression: 2,
};

/** Outer ones first. */
const byPlace = (a: Mutant, b: Mutant): number =>
  a.start - b.start || b.end - a.end || RANKS[a.slot] - RANKS[b.slot];

/** Two swaps of neighbours overlap, and then neither is inside the other. */
export const overlap = (a: Mutant, b: Mutant): boolean => {
  const [first, second] = byPlace(a, b) <= 0 ? [a, b] : [b, a];
  return second.start < first.end && second.end > first.end;
};

function switched({ id, slot, replacement }: Numbered, original: string): string {
  const isOn = `__mutant(${String(id)})`;
  switch (slot) {
    case 'statement':
      return `{if(${isOn}){${replacement}}else{${original}}}`;
    case 'member':
      return `...(${isOn}?{}:{${original}})`;
    case 'element':
      return `...(${isOn}?[]:[${original}])`;
    case 'expression':
      return `(${isOn}?(${replacement}):(${original}))`;
  }
}

/** @param mutants of which none overlaps with another without being inside it */
export function instrument(source: string, mutants: readonly Numbered[]): string {
  const waiting = [...mutants].sort(byPlace);
  /** @returns the code between two places, with all mutants that begin before the end */
  const render = (start: number, end: number): string => {
    let code = '';
    let at = start;
    for (let next = waiting[0]; next && next.start < end; next = waiting[0]) {
      waiting.shift();
      code += source.slice(at, next.start) + switched(next, render(next.start, next.end));
      at = next.end;
    }
    return code + source.slice(at, end);
  };
  return render(0, source.length);
}
