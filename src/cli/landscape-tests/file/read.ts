/** Reads a file with landscape tests, and finds mistakes in it, each with its position. */
import { phases } from '../../../api/job.ts';
import { decode, misfits, pathText, typeName, type Misfit, type Path } from '../../../api/decode.ts';
import { noYaml } from '../../../blueprint/lint/document.ts';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { Source } from '../../../blueprint/lint/source.ts';
import { readYamlAll, type YamlText } from '../../../blueprint/lint/yaml-text.ts';
import { hintFor } from '../../../lib/closest.ts';
import { isDuration } from '../../../lib/duration.ts';
import { isDns1123Label } from '../../../lib/names.ts';
import { isObject } from '../../../lib/objects.ts';
import { YamlError } from '../../../lib/yaml.ts';
import { readTextFile } from '../../files.ts';
import { readOrderEntry } from './order-entry.ts';
import {
  actions,
  suiteSchema,
  type Answers,
  type Given,
  type Step,
  type Suite,
  type Then,
} from './schema.ts';

/** A file that can be run. */
export interface SuiteFile {
  readonly file: string;
  readonly suite: Suite;
  readonly document: YamlText;
}

type ReadSuite =
  | { readonly file: SuiteFile; readonly findings: readonly [] }
  | { readonly file: undefined; readonly findings: readonly Finding[] };

const RULE = 'landscape-test';

/** @throws UsageError if the file cannot be read */
export function readSuite(file: string): ReadSuite {
  const source = new Source(file, readTextFile(file));
  const invalid = (findings: readonly Finding[]): ReadSuite => ({ file: undefined, findings });
  let documents: ReturnType<typeof readYamlAll>;
  try {
    documents = readYamlAll(source);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return invalid([{ ...noYaml(source, error), rule: RULE }]);
  }
  const [first, second] = documents;
  const finding = (place: Finding['place'], message: string): Finding => ({
    rule: RULE,
    level: 'error',
    place,
    message,
  });
  if (!first || !isObject(first.value))
    return invalid([finding(source.place(0), 'the file has no cases; write the field cases, a list')]);
  if (second)
    return invalid([
      finding(second.document.at([]), 'the file has a second document; write all cases into the first one'),
    ]);
  const { value, document } = first;
  const repeated = document
    .repeatedKeys()
    .map(({ key, place }) => finding(place, `the field "${key}" exists twice`));
  const wrong = misfits(suiteSchema, value).map((misfit) =>
    finding(document.at(misfit.path, misfit.kind === 'type' ? 'value' : 'key'), misfitText(misfit)),
  );
  if (repeated.length + wrong.length > 0) return invalid([...repeated, ...wrong]);
  const suite = decode(suiteSchema, value);
  const findings: Finding[] = [];
  checkSuite(suite, (path, message, part) => {
    findings.push(finding(document.at(path, part), message));
  });
  return findings.length > 0 ? invalid(findings) : { file: { file, suite, document }, findings: [] };
}

function misfitText(misfit: Misfit): string {
  const field = pathText(misfit.path);
  switch (misfit.kind) {
    case 'type':
      return `${field}: expected ${misfit.expected}, found ${typeName(misfit.found)}`;
    case 'unknown': {
      const key = String(misfit.path.at(-1));
      return `unknown field "${key}"; ${hintFor(key, misfit.known)}`;
    }
    case 'capitals':
      return `unknown field "${String(misfit.path.at(-1))}"; did you mean ${misfit.field}?`;
    case 'unused':
      return `${field} has no effect: ${misfit.why}`;
  }
}

type Report = (path: Path, message: string, part?: 'key' | 'value') => void;

function checkSuite(suite: Suite, report: Report): void {
  const { cases, time, namespace } = suite;
  if (cases.length === 0) report(['cases'], 'there is no case; write a list with at least one');
  if (time !== undefined && Number.isNaN(Date.parse(time)))
    report(['time'], `"${time}" is not a time; use a value like 2026-01-31T12:00:00Z`);
  if (namespace !== undefined && isDns1123Label(namespace).length > 0)
    report(['namespace'], `"${namespace}" is not a valid name of a namespace`);
  checkGiven(suite.given, ['given'], report);
  const seen = new Map<string, number>();
  for (const [i, one] of cases.entries()) {
    const path = ['cases', i];
    if (one.name === '')
      report(path, 'the case has no name; describe the expected behaviour in the field name');
    const other = seen.get(one.name);
    if (other !== undefined)
      report([...path, 'name'], `two cases have the name "${one.name}"; rename one of them`);
    seen.set(one.name, i);
    checkGiven(one.given, [...path, 'given'], report);
    for (const [s, step] of (one.when ?? []).entries()) checkStep(step, [...path, 'when', s], report);
    checkThen(one.then, [...path, 'then'], report);
    if (one.then === undefined && !one.when?.some((step) => step.then))
      report(path, `the case "${one.name}" checks nothing; write the field then`);
  }
}

function checkGiven(given: Given | undefined, path: Path, report: Report): void {
  for (const [i, object] of (given?.objects ?? []).entries())
    checkReference(object, [...path, 'objects', i], report);
  checkAnswers(given?.answers, [...path, 'answers'], report);
}

function checkAnswers(answers: Answers | undefined, path: Path, report: Report): void {
  for (const [item, given] of Object.entries(answers ?? {})) {
    const list = Array.isArray(given) ? given : [given];
    if (list.length === 0) report([...path, item], 'the list of answers is empty');
    for (const [i, answer] of list.entries()) {
      const at = Array.isArray(given) ? [...path, item, i] : [...path, item];
      checkDuration(answer.after, [...at, 'after'], report);
      const kinds = [
        answer.exports !== undefined && 'exports',
        answer.fails !== undefined && 'fails',
        answer.never && 'never',
        answer.deployer && 'deployer',
      ].filter((kind) => typeof kind === 'string');
      if (kinds.length > 1) report(at, `an answer has only one of ${kinds.join(' and ')}`);
      if (answer.times !== undefined && answer.times < 1)
        report([...at, 'times'], `"${String(answer.times)}" is not a number of jobs; use 1 or more`);
    }
  }
}

function checkStep(step: Step, path: Path, report: Report): void {
  const found = actions.filter((action) => step[action] !== undefined);
  if (found.length === 0) report(path, `the step does nothing; write one of ${actions.join(', ')}`);
  if (found.length > 1) report(path, `the step has ${found.join(' and ')}; write a step for each`);
  checkDuration(step.wait, [...path, 'wait'], report);
  checkDuration(step.outage, [...path, 'outage'], report);
  checkDuration(step.for, [...path, 'for'], report);
  if (step.for !== undefined && (step.wait !== undefined || step.then !== undefined))
    report([...path, 'for'], `the field "for" has no meaning in a step with ${String(found[0])}`, 'key');
  if (isObject(step.delete)) checkReference(step.delete, [...path, 'delete'], report);
  if (step.change !== undefined) checkReference(step.change, [...path, 'change'], report);
  checkAnswers(step.answers, [...path, 'answers'], report);
  checkThen(step.then, [...path, 'then'], report);
}

/** What a node of the tree may be instead of a phase. */
export const ABSENT = 'absent';
const nodeWords = [...Object.keys(phases), ABSENT];

function checkThen(then: Then | undefined, path: Path, report: Report): void {
  for (const [name, node] of Object.entries(then?.tree ?? {})) {
    const isWord = typeof node === 'string';
    const phase = isWord ? node : node.phase;
    const at = isWord ? [...path, 'tree', name] : [...path, 'tree', name, 'phase'];
    if (phase !== undefined && !nodeWords.includes(phase))
      report(at, `"${phase}" is not a phase; ${hintFor(phase, nodeWords)}`);
  }
  for (const list of ['objects', 'absent'] as const)
    for (const [i, object] of (then?.[list] ?? []).entries())
      checkReference(object, [...path, list, i], report);
  for (const [i, entry] of (then?.order ?? []).entries()) {
    const read = readOrderEntry(entry);
    if ('problem' in read) report([...path, 'order', i], read.problem);
  }
}

function checkReference(object: Readonly<Record<string, unknown>>, path: Path, report: Report): void {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string') report(path, 'the object has no apiVersion');
  else if (typeof kind !== 'string') report(path, 'the object has no kind');
  else if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    report(path, `the ${kind} has no metadata.name`);
}

function checkDuration(text: string | undefined, path: Path, report: Report): void {
  if (text !== undefined && !isDuration(text))
    report(path, `"${text}" is not a duration; use a value like 90s or 10m`);
}
