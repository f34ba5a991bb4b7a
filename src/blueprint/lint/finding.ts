/** What inspections find, and how rules are defined. */
import type { Place } from './source.ts';
import type { Subject } from './subject.ts';

/** error: cannot work · warning: does not work as it seems to · info: good to know */
export type Level = 'error' | 'warning' | 'info';

export interface RuleFacts {
  readonly level: Level;
  /** What the rule finds, as a phrase for the list of rules. */
  readonly about: string;
}

export interface Finding {
  readonly rule: string;
  readonly level: Level;
  readonly place: Place;
  /** A sentence without full stop. */
  readonly message: string;
}

export type Report<R extends string> = (rule: R, place: Place, message: string) => void;

/** Rules about one subject, and the inspection that applies them. */
export interface RuleGroup {
  readonly rules: Readonly<Record<string, RuleFacts>>;
  inspect(subject: Subject): readonly Finding[];
}

/** @param inspect reports its findings, in any order */
export function ruleGroup<R extends string>(
  rules: Readonly<Record<R, RuleFacts>>,
  inspect: (subject: Subject, report: Report<R>) => void,
): RuleGroup {
  return {
    rules,
    inspect(subject) {
      const findings: Finding[] = [];
      inspect(subject, (rule, place, message) => {
        findings.push({ rule, level: rules[rule].level, place, message });
      });
      return findings;
    },
  };
}
