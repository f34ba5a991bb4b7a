/** The rules and boards ask only for metrics and labels that exist. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alerts } from '../../../hack/docs/alerts.ts';
import { boards } from '../../../hack/docs/boards.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/observability.md'), 'utf8');
/** The labels of each metric in the table of the page, which another test compares with the metrics of a process. */
const known = new Map(
  [...page.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram) \| (.*?) \|/gm)].map(
    ([, name = '', cell = '']) => [name, [...cell.matchAll(/`(\w+)`/g)].map(([, label]) => label)],
  ),
);
/** Metrics of the process, and the label that Prometheus adds to each of its targets. */
const PROCESS = ['process_resident_memory_bytes', 'process_cpu_seconds_total'];
const ADDED = ['pod', 'le'];

const queries: readonly (readonly [string, string, string])[] = [
  ...alerts.map(({ name, expr }) => [name, expr, ''] as const),
  ...boards.flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      Object.entries(panel.queries).map(
        ([legend, expr]) => [`${title}, ${panel.title}`, expr, legend] as const,
      ),
    ),
  ),
];
const namesIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b(?:espalier|controller_runtime|workqueue|rest_client|process)_\w+/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  );
const labelsIn = (expr: string): readonly string[] => [
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
  ...[...expr.matchAll(/[{,](\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
];

describe('the rules and boards for Prometheus and Grafana', () => {
  it('cover all parts', () => {
    expect(boards).to.have.length(3);
    expect(queries.length).to.be.above(30);
  });

  for (const [what, expr, legend] of queries) {
    it(`ask for what exists: ${what} ${legend}`, () => {
      const names = namesIn(expr);
      expect(names, expr).not.to.deep.equal([]);
      for (const name of names) {
        const labels = PROCESS.includes(name) ? [] : known.get(name);
        expect(labels, name).not.to.equal(undefined);
        for (const label of labelsIn(expr)) expect([...(labels ?? []), ...ADDED], expr).to.include(label);
      }
      const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of shown) expect(labelsIn(expr), legend).to.include(label);
    });
  }
});
