/** The report in the format of JUnit, which pipelines show. Pure. */
import { table } from '../../../lib/objects.ts';
import type { CaseResult } from '../case.ts';
import { placeText, problemLines } from './failure.ts';
import { totalsOf } from './text.ts';

export function junitText(results: readonly CaseResult[]): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) =>
    suiteXml(
      file,
      results.filter((result) => result.file === file),
    ),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="espalier test"${counts(results)}>`,
    ...suites,
    '</testsuites>',
  ].join('\n');
}

const suiteXml = (file: string, results: readonly CaseResult[]): string =>
  [`  <testsuite name="${escaped(file)}"${counts(results)}>`, ...results.map(caseXml), '  </testsuite>'].join(
    '\n',
  );

function counts(results: readonly CaseResult[]): string {
  const { failed, skipped } = totalsOf(results);
  const ms = results.reduce((sum, { realMs }) => sum + realMs, 0);
  return ` tests="${String(results.length)}" failures="${String(failed)}" skipped="${String(skipped)}" time="${seconds(ms)}"`;
}

function caseXml(result: CaseResult): string {
  const { file, name, line, outcome, note = '', realMs, problems } = result;
  const head = `    <testcase name="${escaped(name)}" classname="${escaped(file)}" file="${escaped(file)}" line="${String(line)}" time="${seconds(realMs)}"`;
  if (outcome === 'passed') return `${head}/>`;
  const body =
    outcome === 'skipped'
      ? [`      <skipped message="${escaped(note)}"/>`]
      : problems.map((problem) => {
          const text = [placeText(problem) ?? file, ...problemLines(problem)].join('\n');
          return `      <failure message="${escaped(problem.title)}">${escaped(text)}</failure>`;
        });
  return [`${head}>`, ...body, '    </testcase>'].join('\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = table({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
});
/** XML has no way to write most control characters. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
const escaped = (text: string): string =>
  text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
