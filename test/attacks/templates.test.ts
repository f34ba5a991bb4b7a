/** Templates and charts that never end, or use up all resources. */
import { readFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { mockItem } from '../support/landscape.ts';
import { packChart } from '../support/helm-charts.ts';
import { attacks, type Attack } from './stage/attack.ts';
import {
  failing,
  failingTimes,
  giveTarget,
  helmItem,
  onTarget,
  templated,
  withBlueprint,
} from './stage/objects.ts';

const LIMIT =
  /templating\.(timeout|maxSteps|maxOutputBytes|memoryMiB|cpuBudget)|100 times|exceeded maximum template depth \(500\)/;

/** No key of the configuration raises the limit for the depth. */
const DEEP_OR_LIMIT = new RegExp(`${LIMIT.source}|nested too deeply|template depth|depth a template may use`);

const bcryptLoop = '{{ range $i, $e := until 5000 }}{{ bcrypt "attack" }}{{ end }}';

const go: Readonly<Record<string, string>> = {
  'ranges in ranges': '{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}',
  'text that doubles': '{{ $s := "x" }}{{ range until 60 }}{{ $s = printf "%s%s" $s $s }}{{ end }}{{ $s }}',
  'definitions that call themselves':
    '{{ define "a" }}{{ template "a" . }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
  'lists that grow': '{{ $l := list }}{{ range until 1000000 }}{{ $l = append $l $l }}{{ end }}',
  'keys of RSA': '{{ range until 1000 }}{{ genPrivateKey "rsa" }}{{ end }}',
  'derived passwords': '{{ range until 1000 }}{{ derivePassword 1 "maximum" "a" "b" "c" }}{{ end }}',
  certificates: '{{ range until 1000 }}{{ genCA "a" 1 | toJson }}{{ end }}',
  'a map whose table does not fit beside lists':
    '{{ $d := dict }}{{ range until 270000 }}{{ $_ := set $d (print .) . }}{{ end }}{{ range until 36 }}{{ $_ := set $d (print "a" .) (untilStep 0 100000 1) }}{{ end }}{{ range until 400000 }}{{ $_ := set $d (print "b" .) . }}{{ end }}',
  spaces: '{{ repeat 100000000 "  " }}',
};

const spiff: Readonly<Record<string, unknown>> = {
  'a lambda that calls itself': { f: '(( lambda |x|->_(x) _(x) ))', a: '(( .f(1) ))' },
  'values that double': Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [
      `v${String(i)}`,
      i === 0 ? 'x' : `(( v${String(i - 1)} v${String(i - 1)} ))`,
    ]),
  ),
  'sums of sums': { a: '(( sum[[1..100000]|0|s,e|->s sum[[1..100000]|0|t,f|->t + f]] ))' },
};

const handlebars: Readonly<Record<string, string>> = {
  'loops in loops': '{{#each (until 10000)}}{{#each (until 10000)}}xxxxxxxxxx{{/each}}{{/each}}',
  'blocks in blocks': '{{#if true}}'.repeat(5_000) + '{{/if}}'.repeat(5_000),
};

const charts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ranges in ranges': { 'templates/a.yaml': go['ranges in ranges'] ?? '' },
  'tpl that calls itself': {
    'templates/a.yaml':
      '{{ $t := "{{ tpl .t . }}{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t "Template" .Template) }}',
  },
  'includes that call themselves': {
    'templates/a.yaml': '{{ define "a" }}{{ include "a" . }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
  },
  'text that doubles': { 'templates/a.yaml': go['text that doubles'] ?? '' },
  'bcrypt in a loop': { 'templates/a.yaml': bcryptLoop },
  'an output of 100 MB': { 'templates/a.yaml': '# {{ repeat 100 (repeat 1000000 "x") }}' },
  'a schema that never ends': {
    'values.yaml': `deep: ${'['.repeat(60)}${']'.repeat(60)}\n`,
    'values.schema.json': JSON.stringify({
      definitions: {
        a: {
          anyOf: Array.from({ length: 8 }, (_, i) => ({
            items: { $ref: '#/definitions/a' },
            minItems: 300 + i,
          })),
        },
      },
      properties: { deep: { $ref: '#/definitions/a' } },
    }),
    'templates/a.yaml': '',
  },
  'aliases of aliases in its values': {
    'values.yaml': [
      'a0: &a0 [x, x, x, x, x, x, x, x, x]',
      ...Array.from(
        { length: 30 },
        (_, i) =>
          `a${String(i + 1)}: &a${String(i + 1)} [${Array(9)
            .fill(`*a${String(i)}`)
            .join(', ')}]`,
      ),
    ].join('\n'),
    'templates/a.yaml': '{{ toYaml .Values }}',
  },
};

const named = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');

/** Shorter than the default, so that the suite ends in time. */
const SHORT = { templating: { timeout: '3s' } };

attacks({
  title: 'templates',
  configuration: SHORT,
  attacks: [
    {
      title: 'GoTemplates that never end',
      launch: (scene) =>
        all(Object.entries(go), ([name, text]) =>
          failing(scene, withBlueprint(named(name), templated(text)), LIMIT),
        ),
      patienceMs: 90_000,
    },
    {
      title: 'Spiff and Handlebars that never end',
      launch: async (scene) => [
        ...(await all(Object.entries(spiff), ([name, template]) =>
          failing(scene, withBlueprint(named(name), templated(template, 'Spiff')), DEEP_OR_LIMIT),
        )),
        ...(await all(Object.entries(handlebars), ([name, template]) =>
          failing(scene, withBlueprint(named(name), templated(template, 'Handlebars')), DEEP_OR_LIMIT),
        )),
      ],
      patienceMs: 60_000,
    },
    {
      title: 'Helm charts that never end',
      async launch(scene) {
        await giveTarget(scene, 'cluster', readFileSync(scene.stage.kubeconfig, 'utf8'));
        return all(Object.entries(charts), ([name, files]) =>
          failing(
            scene,
            onTarget(named(name), [helmItem('chart', packChart(files), 'values.schema.json' in files)]),
            /templating\.\w+|nested reference name|alias|depth/,
          ),
        );
      },
      patienceMs: 90_000,
    },
    {
      title: 'twelve installations with bcrypt in a loop',
      launch: (scene) =>
        failingTimes(12, (i) => failing(scene, withBlueprint(`bcrypt-${i}`, templated(bcryptLoop)), LIMIT)),
      patienceMs: 120_000,
    },
    starvation(),
  ],
});

/** Templates that need more than a second of processor time while other processes leave them little of it. */
function starvation(): Attack {
  const burners: ChildProcess[] = [];
  const work = '{{ $n := 0 }}{{ range until 200000 }}{{ $n = add $n 1 }}{{ end }}';
  const template = `${work}{"deployItems": [${JSON.stringify(mockItem('good'))}]}`;
  return {
    title: 'harmless templates while other processes use all of the processors',
    async launch(scene) {
      for (let i = 0; i < 4; i++)
        burners.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
      const victims = await failingTimes(3, (i) =>
        failing(scene, withBlueprint(`good-${i}`, templated(template))),
      );
      return victims.map((victim) => ({ ...victim, phase: /^Succeeded$/ }));
    },
    async cleanUp() {
      for (const burner of burners.splice(0)) burner.kill('SIGKILL');
    },
    patienceMs: 60_000,
  };
}

async function all<T, R>(list: readonly T[], one: (each: T) => Promise<readonly R[]>): Promise<readonly R[]> {
  return (await Promise.all(list.map(one))).flat();
}
