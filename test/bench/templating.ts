/** How fast a template of 20 deploy items renders: parsed anew each time, from the cache, and by Go's own engine. */
import { askGo, GoMissing, withOracle } from '../../hack/go-oracle/oracle.ts';
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

/** The middle of several runs, each in microseconds per piece of work. */
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

export async function benchTemplating(): Promise<void> {
  const parsed = parseTemplate('items', TEMPLATE);
  const cached = microseconds(() => void execute(parsed, data, options));
  let turn = 0;
  const anew = microseconds(() => {
    turn++;
    void execute(parseTemplate('items', `${TEMPLATE}# ${turn}`), data, options);
  });
  console.log(
    `template of 20 items: ${cached.toFixed(0)} µs from the cache, ${anew.toFixed(0)} µs parsed anew (${(anew / cached).toFixed(1)} times as long)`,
  );
  try {
    const go = await withOracle(goMicroseconds);
    console.log(
      `the same in Go, parsed before: ${go.toFixed(0)} µs; from the cache we take ${(cached / go).toFixed(2)} times as long`,
    );
  } catch (error) {
    if (!(error instanceof GoMissing)) throw error;
    console.log(`not compared with Go: ${error.message}`);
  }
}

function goMicroseconds(binary: string): number {
  const request = { template: TEMPLATE, values: data, rounds: ROUNDS };
  const answers = askGo(
    binary,
    Array.from({ length: RUNS }, () => request),
  );
  return median(answers.map(({ output }) => Number(output) / 1000));
}
