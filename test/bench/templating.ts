/** How fast a template of 20 deploy items renders, parsed anew each time and from the cache. */
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

function microseconds(work: () => void): number {
  for (let i = 0; i < 200; i++) work();
  const start = performance.now();
  for (let i = 0; i < ROUNDS; i++) work();
  return ((performance.now() - start) * 1000) / ROUNDS;
}

export function benchTemplating(): void {
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
}
