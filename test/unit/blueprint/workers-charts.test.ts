/** Charts in separate processes: the same results, and no chart can stop the others. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  workerRunners,
  type WorkerOptions,
  type WorkerRunners,
} from '../../../src/blueprint/workers/runner.ts';
import { inThisThread, type Runner } from '../../../src/blueprint/work.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { writeTar } from '../../../src/lib/tar.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import {
  ChartInvalid,
  ChartStopped,
  ChartTemplateFailed,
  HelmError,
  ValuesInvalid,
} from '../../../src/templating/helm/errors.ts';
import type { LookupKey } from '../../../src/templating/helm/functions.ts';
import type { PackedChart } from '../../../src/templating/helm/work.ts';
import { chartCases, filesIn, NAMESPACE, RELEASE } from '../../support/charts.ts';
import { packChart } from '../../support/helm-charts.ts';
import { outcome } from '../../support/outcome.ts';
import { watched } from '../templating/hostile/support.ts';

const packed = (bytes: Uint8Array): PackedChart => ({
  bytes,
  digest: createHash('sha256').update(bytes).digest('hex'),
});
const chartOf = (files: Readonly<Record<string, string>>): PackedChart => packed(packChart(files));
const printing = (template: string): PackedChart => chartOf({ 'templates/a.yaml': template });

const release = { name: RELEASE, namespace: NAMESPACE, revision: 1, isUpgrade: false };
const inputs = { release, values: {} };
const here = inThisThread({ clock: systemClock, rng: seededRng(1) });

describe('charts in separate processes', () => {
  const open: WorkerRunners[] = [];
  const start = (options: Partial<WorkerOptions> = {}): Runner => {
    const runners = workerRunners({ clock: systemClock, ...options });
    open.push(runners);
    return runners.of('shop');
  };
  let runner: Runner;
  before(() => {
    runner = start();
  });
  after(() => Promise.all(open.map((each) => each.close())));

  const messageOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      return JSON.stringify(await work);
    } catch (error) {
      if (error instanceof HelmError) return `${error.name}: ${error.message}`;
      throw error;
    }
  };

  it('have the same results as here, objects and errors', async () => {
    for (const { name, chart: folder, values: file } of chartCases) {
      const files = [...filesIn(folder)].map(([path, content]) => [`${name}/${path}`, content] as const);
      const chart = packed(gzipSync(writeTar(files)));
      const values = file === undefined ? {} : (parseYaml(readFileSync(file, 'utf8')) as Fields);
      const job = { chart, inputs: { release, values } };
      expect(await messageOf(runner.renderChart(job)), name).to.equal(await messageOf(here.renderChart(job)));
      const given = { chart, values };
      expect(await messageOf(runner.chartValues(given)), name).to.equal(
        await messageOf(here.chartValues(given)),
      );
    }
  });

  it('see looked up objects, with all digits', async () => {
    const template =
      '{{- $a := lookup "v1" "ConfigMap" "n" "first" }}\na: "{{ (lookup "v1" "ConfigMap" "n" $a.data.next).data.n }}"';
    const asked: string[] = [];
    const lookup = ({ name }: LookupKey): Promise<unknown> => {
      asked.push(name);
      if (name === 'first') return Promise.resolve({ data: { next: 'second' } });
      return Promise.resolve(name === 'second' ? { data: { n: 2n ** 60n + 1n } } : undefined);
    };
    const { manifests } = await runner.renderChart({ chart: printing(template), inputs, lookup });
    expect(manifests.map(({ document }) => document)).to.deep.equal([{ a: String(2n ** 60n + 1n) }]);
    expect(asked.filter((name) => name !== '')).to.deep.equal(['first', 'second']);
  });

  it('fail with the error of a lookup', async () => {
    const lookup = (): Promise<unknown> => Promise.reject(new TypeError('no such server'));
    const chart = printing('a: {{ lookup "v1" "ConfigMap" "n" "x" | empty }}');
    expect(await outcome(runner.renderChart({ chart, inputs, lookup }))).to.throw(
      TypeError,
      'no such server',
    );
  });

  it('are validated against their schema, and searched for secret words', async () => {
    const chart = chartOf({
      'values.schema.json': '{"required": ["port"]}',
      'templates/a.yaml': '{{ .Capabilities.KubeVersion }}',
    });
    expect(await outcome(runner.checkChartValues({ chart, values: {} }))).to.throw(ValuesInvalid, 'port');
    await runner.checkChartValues({ chart, values: { port: 1 } });
    expect(await runner.mentions({ chart, words: ['Capabilities', 'APIVersions'] })).to.deep.equal([
      'Capabilities',
    ]);
  });

  it('return the errors of their CRDs to callers that want them', async () => {
    const chart = chartOf({ 'crds/a.yaml': 'kind: A\n---\nkind: [' });
    const { definitions } = await runner.renderChart({ chart, inputs });
    expect(definitions[0]).to.deep.equal({ document: { kind: 'A' } });
    expect(definitions[1]).to.have.property('problem').that.contains('YAML parse error on small/crds/a.yaml');
  });

  const bomb = packChart({ 'filler.txt': '0'.repeat(5 << 20) });
  const bombs = Object.fromEntries(
    Array.from({ length: 25 }, (_, i) => [`charts/b${String(i)}.tgz`, bomb.toString('latin1')]),
  );
  const attacks: readonly {
    readonly title: string;
    readonly chart: () => PackedChart;
    readonly error: new (...args: never[]) => Error;
    readonly says: RegExp;
  }[] = [
    {
      title: 'long functions',
      chart: () => printing('{{ range until 100000 }}{{ bcrypt "secret" }}{{ end }}'),
      error: HelmError,
      says: /takes longer than 1000 ms; templating\.timeout of the configuration allows more/,
    },
    {
      title: 'much memory',
      chart: () =>
        printing(
          '{{ $d := dict }}{{ range untilStep 0 10000000 1 }}{{ $_ := set $d (print .) (repeat 4000 (print . "x")) }}{{ end }}',
        ),
      error: ChartStopped,
      says: /needs more than 64 MiB of memory; templating\.memoryMiB of the configuration allows more/,
    },
    {
      title: 'many steps',
      chart: () => printing('{{ range until 9999 }}{{ $x := . }}{{ end }}'),
      error: ChartTemplateFailed,
      says: /more than 5000 steps; templating\.maxSteps/,
    },
    {
      title: 'much output of many templates',
      chart: () =>
        chartOf(
          Object.fromEntries(
            ['a', 'b', 'c'].map((name) => [`templates/${name}.yaml`, `{{ repeat 500000 "x" }}`]),
          ),
        ),
      error: ChartTemplateFailed,
      says: /larger than 1048576 bytes; templating\.maxOutputBytes/,
    },
    {
      title: 'a string that refers to a larger one',
      chart: () => printing(`a: &a {{ repeat 100000 "x" }}\nb: [${Array(100).fill('*a').join(', ')}]`),
      error: ChartStopped,
      says: /result is larger than 1048576 bytes, where a value counts at least 32; templating\.maxOutputBytes/,
    },
    {
      title: 'subcharts that unpack to much',
      chart: () =>
        packed(
          gzipSync(
            writeTar([
              ['c/Chart.yaml', Buffer.from('apiVersion: v2\nname: c\nversion: 0.1.0\n')],
              ...Object.entries(bombs).map(
                ([path, text]) => [`c/${path}`, Buffer.from(text, 'latin1')] as const,
              ),
            ]),
          ),
        ),
      error: ChartInvalid,
      says: /larger than the maximum file size 104857600/,
    },
  ];
  for (const { title, chart, error, says } of attacks) {
    it(`do not stop other charts with ${title}`, async () => {
      const limits = {
        timeoutMs: title === 'long functions' ? 1000 : 20_000,
        maxSteps: title === 'many steps' ? 5000 : 1e9,
        maxOutputBytes: title === 'much memory' ? 2 ** 30 : 2 ** 20,
      };
      const small = start({ limits, memoryMiB: 64 });
      const job = { chart: chart(), inputs };
      const ending = await watched(() => small.renderChart(job));
      expect(ending.error).to.be.instanceOf(error);
      expect(ending.error?.message).to.match(says);
      expect(ending.stalledMs, 'this thread goes on').to.be.below(2_000);
      const { manifests } = await small.renderChart({ chart: printing('a: 1'), inputs });
      expect(manifests.map(({ document }) => document)).to.deep.equal([{ a: 1 }]);
    });
  }

  it('may look up at most a thousand objects', async () => {
    const chart = printing('{{ range until 1001 }}{{ lookup "v1" "ConfigMap" "n" (print .) }}{{ end }}');
    let reads = 0;
    const lookup = (): Promise<unknown> => Promise.resolve(void reads++);
    expect(await outcome(runner.renderChart({ chart, inputs, lookup }))).to.throw(
      ChartInvalid,
      'the templates look up more than 1000 objects',
    );
    expect(reads).to.equal(0);
  });

  it('may look up at most 16 MiB', async () => {
    const chart = printing('{{ range until 20 }}{{ lookup "v1" "ConfigMap" "n" (print .) | len }}{{ end }}');
    let reads = 0;
    const lookup = (): Promise<unknown> =>
      Promise.resolve({ data: `${String(reads++)}${'x'.repeat(2 << 20)}` });
    expect(await outcome(runner.renderChart({ chart, inputs, lookup }))).to.throw(
      ChartInvalid,
      'the templates look up more than 16 MiB of objects',
    );
    expect(reads).to.equal(8);
  });
});
