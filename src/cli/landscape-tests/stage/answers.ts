/** What deploy items answer instead of their deployers: the first answer for the first job, and so on. */
import type { Answer, Answers } from '../file/schema.ts';
import { fitsPattern } from './paths.ts';

export class AnswerBook {
  #answers: readonly (readonly [pattern: string, answers: readonly Answer[]])[] = [];
  readonly #jobs = new Map<string, string[]>();
  readonly #used = new Set<string>();

  /** @param layers later ones win over earlier ones; an exact path wins over a pattern */
  set(...layers: readonly (Answers | undefined)[]): void {
    const all = layers
      .flatMap((layer) => Object.entries(layer ?? {}))
      .reverse()
      .map(([pattern, given]) => [pattern, Array.isArray(given) ? given : [given]] as const);
    const isExact = ([pattern]: readonly [string, unknown]): boolean => !pattern.includes('*');
    this.#answers = [...all.filter(isExact), ...all.filter((entry) => !isExact(entry))];
    this.#jobs.clear();
  }

  /** The answer for a job of an item; undefined: its deployer works. */
  answerFor(path: string, jobID: string): Answer | undefined {
    const found = this.#answers.find(([pattern]) => fitsPattern(pattern, path));
    if (!found) return undefined;
    this.#used.add(found[0]);
    const jobs = this.#jobs.get(path) ?? [];
    this.#jobs.set(path, jobs);
    if (!jobs.includes(jobID)) jobs.push(jobID);
    return nthAnswer(found[1], jobs.indexOf(jobID));
  }

  /** Whether the deployer of an item never works. */
  isAlwaysAnswered(path: string): boolean {
    const found = this.#answers.find(([pattern]) => fitsPattern(pattern, path));
    return found?.[1].every(({ deployer }) => !deployer) ?? false;
  }

  /** Patterns that no item has fitted so far; they are probably misspelt. */
  get unused(): readonly string[] {
    return this.#answers.map(([pattern]) => pattern).filter((pattern) => !this.#used.has(pattern));
  }
}

/** Each answer is for `times` jobs, by default one; the last one is for all further jobs, unless it has `times`. */
function nthAnswer(answers: readonly Answer[], job: number): Answer | undefined {
  let end = 0;
  for (const [i, answer] of answers.entries()) {
    const isLast = i === answers.length - 1;
    end += answer.times ?? (isLast ? Infinity : 1);
    if (job < end) return answer;
  }
  return undefined;
}
