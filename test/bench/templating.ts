/**
 * How fast templates render: parsed each time or cached, compared with Go's engine, in both languages, in this process
 * and in a template process.
 */
import { GoUnavailable } from '../../hack/go/build.ts';
import { openOracle, type Oracle } from '../../hack/go-oracle/oracle.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { workerRunners } from '../../src/blueprint/workers/runner.ts';
import { inThisThread, type RenderJob, type TemplateRunner } from '../../src/blueprint/work.ts';
import { inlineFileTree } from '../../src/lib/file-tree.ts';
import { execute, parseTemplate } from '../../src/templating/gotemplate/template.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRng } from '../../src/lib/rng.ts';

const TEMPLATE = `deployItems:
{{- range $i, $name := .names }}
- name: {{ $name }}
  type: landscaper.gardener.cloud/mock
  config:
    apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    providerStatus: {index: {{ $i }}, label: {{ printf "%s-%d" ($name | upper) $i | quote }}}
{{- if gt $i 0 }}
  dependsOn: [{{ index $.names (sub $i 1) }}]
{{- end }}
{{- end }}
`;
const data = { names: Array.from({ length: 20 }, (_, i) => `item-${i}`) };
const options = { clock: systemClock, rng: systemRng };
const ROUNDS = 2000;
const RUNS = 7;

/** The median of several runs, in microseconds per unit of work. */
function microseconds(work: () => void): number {
  for (let i = 0; i < ROUNDS; i++) work();
  return median(
    Array.from({ length: RUNS }, () => {
      const start = performance.now();
      for (let i = 0; i < ROUNDS; i++) work();
      return ((performance.now() - start) * 1000) / ROUNDS;
    }),
  );
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
/** A blueprint of typical size, and what its component would add to the values. */
const files = { 'blueprint.yaml': API_VERSION, 'notes.txt': 'x'.repeat(4000) };
const job = (index: number, type: 'GoTemplate' | 'Handlebars'): RenderJob => ({
  execution: {
    name: 'small',
    type,
    template:
      type === 'GoTemplate'
        ? 'deployItems:\n- name: {{ .imports.name }}\n  type: mock\n  config: {n: {{ .imports.n }}}\n'
        : 'deployItems:\n- name: {{imports.name}}\n  type: mock\n  config: { n: {{imports.n}} }\n',
  },
  values: { imports: { name: `web-${index}`, n: index }, cd: null, components: null, blueprint: {} },
  blueprint: { files: inlineFileTree(files), info: {} },
});

/** A thousand executions, thirty at a time as in the controllers; milliseconds for all. */
async function thousand(runner: TemplateRunner, type: 'GoTemplate' | 'Handlebars'): Promise<number> {
  const start = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < 1000) await runner.render(job(next++, type));
  };
  await Promise.all(Array.from({ length: 30 }, worker));
  return performance.now() - start;
}

async function benchRunners(): Promise<void> {
  const runners = workerRunners({ clock: systemClock });
  const separate = runners.of('bench');
  const start = performance.now();
  await separate.render(job(0, 'GoTemplate'));
  console.log(
    `first execution in a template process, with its start: ${(performance.now() - start).toFixed(0)} ms`,
  );
  for (const type of ['GoTemplate', 'Handlebars'] as const) {
    for (const [where, runner] of [
      ['the main thread', inThisThread(options)],
      ['a template process', separate],
    ] as const) {
      await thousand(runner, type);
      const rounds: number[] = [];
      for (let i = 0; i < 5; i++) rounds.push(await thousand(runner, type));
      const ms = rounds.sort((a, b) => a - b)[2] ?? 0;
      console.log(`1000 small executions of ${type} in ${where}: ${ms.toFixed(0)} ms`);
    }
  }
  await runners.close();
}

export async function benchTemplating(): Promise<void> {
  const parsed = parseTemplate('items', TEMPLATE);
  const cached = microseconds(() => void execute(parsed, data, options));
  let turn = 0;
  const uncached = microseconds(() => {
    turn++;
    void execute(parseTemplate('items', `${TEMPLATE}# ${turn}`), data, options);
  });
  console.log(
    `template with 20 items: ${cached.toFixed(0)} µs cached, ${uncached.toFixed(0)} µs parsed each time (ratio ${(uncached / cached).toFixed(1)})`,
  );
  await benchRunners();
  try {
    const go = goMicroseconds(openOracle(console.log));
    console.log(
      `the same template in Go, parsed in advance: ${go.toFixed(0)} µs (ratio of ours, cached, to Go: ${(cached / go).toFixed(2)})`,
    );
  } catch (error) {
    if (!(error instanceof GoUnavailable)) throw error;
    console.log(`not compared with Go: ${error.message}`);
  }
}

function goMicroseconds(ask: Oracle): number {
  const request = { template: TEMPLATE, values: data, rounds: ROUNDS };
  const answers = ask(Array.from({ length: RUNS }, () => request));
  return median(answers.map(({ output }) => Number(output) / 1000));
}
