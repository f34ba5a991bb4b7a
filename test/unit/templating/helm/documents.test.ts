/** What is parsed of a chart is what its author wrote, as Kubernetes' reader has it: with the line break at the end. */
import { expect } from 'chai';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { documentsOf, pagesOf } from '../../../../src/templating/helm/documents.ts';
import { chartOfFolder } from '../../../../src/templating/helm/load.ts';
import { packRecord, viewRecord } from '../../../../src/templating/helm/record-view.ts';
import { recordOf } from '../../../../src/templating/helm/record-content.ts';
import { recordDocuments } from '../../../../src/templating/helm/record.ts';
import { renderChart } from '../../../../src/templating/helm/render.ts';
import { chartWork } from '../../../../src/templating/helm/work.ts';
import { packChart } from '../../../support/helm-charts.ts';

const META = 'apiVersion: v2\nname: c\nversion: 1.0.0\n';
const world = { clock: systemClock, rng: seededRng(1) };
const release = { name: 'r', namespace: 'n', revision: 1, isUpgrade: false };
const info = { first_deployed: '', last_deployed: '', deleted: '', description: '', status: 'deployed' };

const object = (name: string, end: string, annotation = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${annotation}data:\n  t: ${end}`;
const HOOK = '  annotations:\n    helm.sh/hook: pre-install\n';

/** The end of an object, and its value as helm stores it. */
const ENDS: readonly (readonly [title: string, text: string, value: string])[] = [
  ['a literal block', '|\n    a\n    b\n', 'a\nb\n'],
  ['a literal block without a line break', '|\n    a', 'a\n'],
  ['a literal block that is stripped', '|-\n    a\n', 'a'],
  ['a literal block that keeps empty lines, of which helm trims all', '|+\n    a\n\n\n', 'a\n'],
  ['a folded block', '>\n    a\n    b\n', 'a b\n'],
  ['a literal block with Windows line breaks', '|\r\n    a\r\n    b\r\n', 'a\nb\n'],
  ['a block with a line of hyphens', '|\n    ---\n    a\n', '---\na\n'],
  ['a plain scalar', 'a\n', 'a'],
  ['a quoted scalar', '"a\\n"\n\n', 'a\n'],
];

const dataIn = (document: unknown): unknown => (document as { data?: { t?: unknown } }).data?.t;

describe('the end of an object', () => {
  for (const [title, text, value] of ENDS)
    it(`that is ${title} is as helm has it, in both modes, in hooks, records and definitions`, async () => {
      const files = {
        'templates/a.yaml': `${object('first', text)}\n---\n${object('second', text)}`,
        'templates/b.yaml': object('hook', text, HOOK),
        'crds/a.yaml': `${object('third', text)}\n---\n# Source: b\n${object('fourth', text)}`,
      };
      const chart = chartOfFolder(
        new Map(Object.entries({ 'Chart.yaml': META, ...files }).map(([k, v]) => [k, Buffer.from(v)])),
      );
      const rendering = await renderChart(chart, { release, values: {} }, world);
      const rendered = [...rendering.manifests, ...rendering.hooks].map((each) => dataIn(each.document));
      expect(rendered).to.deep.equal([value, value, value]);
      const packed = { release: packRecord(recordOf(rendering, release, {}, info)) };
      const stored = recordDocuments(packed).map((json) => dataIn(JSON.parse(json)));
      expect(stored).to.deep.equal([value, value]);
      const view = viewRecord(packed);
      const viewed = [...(view?.documents ?? []), ...(view?.hooks.flatMap((hook) => hook.documents) ?? [])];
      expect(viewed.map((json) => dataIn(JSON.parse(json)))).to.deep.equal([value, value, value]);
      const definitions = chartWork.chartDefinitions({
        chart: { bytes: packChart(files), digest: title },
        values: {},
      });
      const defined = definitions.flatMap((file) => file.definitions);
      // Files are not trimmed: nothing but their own end is missing.
      const whole = title.includes('keeps') ? 'a\n\n\n' : value;
      expect(defined.map((each) => dataIn((each as { document: unknown }).document))).to.deep.equal([
        title.includes('keeps') ? 'a\n\n\n\n' : value,
        whole,
      ]);
    });
});

describe('a string', () => {
  const pages: readonly (readonly [title: string, text: string, pages: readonly string[]])[] = [
    ['without anything', ' \n', []],
    ['with empty pages', '---\n# none\n---\n---\na\n---\n', ['# none', '---\na']],
    ['with spaces that Go does not trim', '\ufeffa\n---\nb', ['\ufeffa', 'b']],
    ['with spaces that Go trims', '\u0085a\u00a0\n---\nb', ['a', 'b']],
    [
      'with a million empty lines between two words',
      `a${'\n'.repeat(1_000_000)}b`,
      [`a${'\n'.repeat(1_000_000)}b`],
    ],
    ['with empty lines around a separator', 'a \t\n\n\n---\n\n b', ['a', 'b']],
    ['whose separator follows a space of Unicode', 'a\u2003\n---\u2003b', ['a', 'b']],
  ];
  for (const [title, given, wanted] of pages)
    it(`${title} has the pages that helm prints`, () => {
      expect(pagesOf(given)).to.deep.equal(wanted);
    });

  const streams: readonly (readonly [title: string, text: string, documents: readonly string[]])[] = [
    ['without anything', '', []],
    ['that begins with a separator', '---\na\n---\nb', ['---\na\n', 'b\n']],
    ['with comments behind separators', '--- # x\na\n---  \t# y\nb\n', ['--- # x\na\n', 'b\n']],
    ['with an indented separator', 'a\n ---\nb', ['a\n ---\nb\n']],
    ['with text behind a separator, which YAML refuses', 'a\n---b\nc', ['a\n---b\nc\n']],
  ];
  for (const [title, given, wanted] of streams)
    it(`${title} has the documents that Kubernetes reads`, () => {
      expect(documentsOf(given)).to.deep.equal(wanted);
    });
});
