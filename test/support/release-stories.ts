/**
 * Stories of releases: charts and steps that Helm and this product have to carry out with the same result. Each chart
 * is a function of the values, so one chart has several versions.
 */
import { toYaml } from '../../src/lib/yaml.ts';
import { packChart } from './helm-charts.ts';

export type StoryStep =
  | {
      readonly do: 'install' | 'upgrade';
      /** Name of the chart in the story. */
      readonly chart: string;
      readonly values?: object;
      readonly atomic?: true;
      readonly wait?: true;
      readonly waitForJobs?: true;
      readonly force?: true;
      readonly takeOwnership?: true;
      readonly createNamespace?: true;
      readonly replace?: true;
      readonly cleanUp?: true;
      /** Seconds; default 20. */
      readonly timeout?: number;
    }
  | { readonly do: 'rollback'; readonly to: number; readonly wait?: true; readonly timeout?: number }
  | { readonly do: 'uninstall'; readonly wait?: true; readonly keepHistory?: true }
  /** Changes an object on the cluster, as another client would. */
  | {
      readonly do: 'edit';
      readonly object: readonly [apiVersion: string, kind: string, key: string];
      readonly patch: object;
    }
  | { readonly do: 'create'; readonly object: object }
  | { readonly do: 'delete'; readonly object: readonly [apiVersion: string, kind: string, key: string] };

export interface Story {
  readonly title: string;
  /** Packed charts by name. */
  readonly charts: Readonly<Record<string, Buffer>>;
  readonly steps: readonly StoryStep[];
  /** Takes more than a minute, because it waits in real time. */
  readonly isLong?: true;
}

type Files = Readonly<Record<string, string>>;

const yaml = (document: object): string => JSON.stringify(document);

const configMap = (name: string, data: object = { a: 'b' }, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

/** What only the server refuses: neither engine checks finalizers before. */
const refused = { finalizers: ['not a finalizer'] };

const deployment = (name: string, spec: object = {}, pod: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    ...spec,
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'main:1' }], ...pod },
    },
  },
});

const chartOf = (documents: Readonly<Record<string, object>>, files: Files = {}): Buffer =>
  packChart({
    ...Object.fromEntries(
      Object.entries(documents).map(([name, document]) => [`templates/${name}.yaml`, yaml(document)]),
    ),
    ...files,
  });

const hook = (event: string, extra: object = {}): object => ({ 'helm.sh/hook': event, ...extra });

const job = (name: string, annotations: object, pod: object = {}): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, annotations },
  spec: {
    backoffLimit: 0,
    template: { metadata: pod, spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'm:1' }] } },
  },
});

const failing = { annotations: { 'espalier.dev/simulate': 'fail' } };
const stuck = { annotations: { 'espalier.dev/simulate': 'never-ready' } };

const simple = packChart({
  'values.yaml': 'msg: hi\n',
  'templates/cm.yaml': yaml(
    configMap('{{ .Release.Name }}-cm', { msg: '{{ .Values.msg }}', rev: '{{ .Release.Revision }}' }),
  ),
  'templates/NOTES.txt': 'Installed {{ .Release.Name }} {{ if .Release.IsUpgrade }}again{{ end }}.\n',
});

const crd = (group: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', singular: 'thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const thing = (spec: object): object => ({
  apiVersion: 'stories.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one' },
  spec,
});

const withCrd = (spec: object): Buffer =>
  chartOf({ thing: thing(spec) }, { 'crds/thing.yaml': yaml(crd('stories.example.com')) });

const rich = {
  'Chart.yaml':
    'apiVersion: v2\nname: rich\nversion: 1.2.3+build\nappVersion: "7"\ndescription: A chart with everything\nkubeVersion: ">=1.20.0-0"\nkeywords: [a, b]\nhome: https://example.com\nsources: [https://example.com/src]\nmaintainers:\n- {name: Me, email: me@example.com}\nannotations: {k: v}\ndependencies:\n- {name: sub, version: 1.x.x, repository: "https://example.com/charts", condition: sub.enabled, alias: other, import-values: [data]}\n- {name: late, version: 1.0.0, repository: "", condition: late.enabled}\n',
  'Chart.lock':
    'dependencies:\n- name: sub\n  repository: https://example.com/charts\n  version: 1.0.0\ndigest: sha256:abc\ngenerated: "2024-01-02T03:04:05.678Z"\n',
  'values.yaml': 'port: 80\nlist: [1, 2.5, true, null]\nlate: {enabled: false}\n',
  'values.schema.json': '{"type":"object","properties":{"port":{"type":"integer"}}}',
  'README.md': 'Read me.\n',
  'files/binary': '\u0000\u0001',
  'templates/_helpers.tpl': '{{ define "n" }}{{ .Release.Name }}{{ end }}',
  'templates/all.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include "n" . }}\ndata: {port: {{ .Values.port | quote }}}\n---\n# empty\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: {{ include "n" . }}}\n',
  'templates/tests/test.yaml': yaml(job('check', hook('test'))),
  'templates/NOTES.txt': 'Notes of {{ .Chart.Name }}',
  'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
  'charts/sub/values.yaml': 'exports: {data: {fromSub: 1}}\nx: y\n',
  'charts/sub/templates/NOTES.txt': 'not shown',
  'charts/sub/templates/cm.yaml': yaml(configMap('sub-{{ .Values.x }}')),
  'charts/late/Chart.yaml': 'apiVersion: v2\nname: late\nversion: 1.0.0\n',
  'charts/late/templates/cm.yaml': yaml(configMap('off')),
};

/** An object that ends with a block, which only a line break closes. */
const blockEnd = (name: string, metadata: string, block: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${metadata}data:\n  text: ${block}`;

const blocks = (line: string): Buffer =>
  packChart({
    'templates/a.yaml': `${blockEnd('a', '', `|\n    ${line}\n`)}\n---\n${blockEnd('b', '', `>+\n    ${line}\n\n\n`)}`,
    'templates/h.yaml': blockEnd(
      'h',
      '  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\n',
      `|\n    ${line}`,
    ),
    'templates/z.yaml': blockEnd('z', '', `|\r\n    ${line}\r\n`),
    'crds/thing.yaml': `${toYaml({ ...crd('stories.example.com'), metadata: undefined })}metadata:\n  name: things.stories.example.com\n  annotations:\n    text: |\n      ${line}`,
  });

/** A definition whose limits no double represents, and values that survive one. */
const limits = packChart({
  'crds/thing.yaml': yaml(crd('stories.example.com')).replace(
    '"x-kubernetes-preserve-unknown-fields":true',
    '"properties":{"spec":{"type":"object","properties":{"a":{"type":"integer","maximum":9223372036854775807,"minimum":-9223372036854775000},"b":{"type":"number","multipleOf":0.01}}}}',
  ),
  'templates/cm.yaml': yaml(configMap('c')),
});

export const releaseStories: readonly Story[] = [
  {
    title: 'definitions have limits beyond the integers of doubles',
    charts: { limits },
    steps: [{ do: 'install', chart: 'limits' }, { do: 'uninstall' }],
  },
  {
    title: 'scalars without quotes in Chart.yaml are stored as strings',
    charts: {
      scalars: packChart({
        'Chart.yaml':
          'apiVersion: v2\nname: 12\nVersion: 1.10\nappversion: 20240101\ndescription: yes\nicon: 12345678.9\nkeywords: [1, on, null]\nmaintainers: [{name: 5, email: no}]\nannotations: {a: 1, b: null, c: 1e21}\nkubeVersion: 1\n',
        'Chart.lock':
          'digest: 1.50\ngenerated: "2024-01-02T03:04:05.678Z"\ndependencies: [{name: 5, version: 2, repository: 1.0}]\n',
        'templates/cm.yaml': yaml(configMap('c', { v: '{{ .Chart.Version }} {{ .Chart.AppVersion }}' })),
      }),
    },
    steps: [
      { do: 'install', chart: 'scalars' },
      { do: 'upgrade', chart: 'scalars', values: { a: 1 } },
    ],
  },
  {
    title: 'blocks at the end of objects keep their line break',
    charts: { one: blocks('one'), two: blocks('two') },
    steps: [
      { do: 'install', chart: 'one' },
      { do: 'upgrade', chart: 'two' },
      { do: 'rollback', to: 1 },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'a chart is installed, upgraded, rolled back and uninstalled',
    charts: { simple },
    steps: [
      { do: 'install', chart: 'simple' },
      { do: 'upgrade', chart: 'simple', values: { msg: 'two' } },
      { do: 'upgrade', chart: 'simple', values: { msg: 'three' } },
      { do: 'rollback', to: 1 },
      { do: 'uninstall', keepHistory: true },
      { do: 'install', chart: 'simple', values: { msg: 'four' }, replace: true },
      { do: 'uninstall' },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'a record has the parts of a chart',
    charts: { rich: packChart(rich, 'rich') },
    steps: [
      { do: 'install', chart: 'rich', values: { port: 81, nested: { a: [{ b: 1 }] } } },
      { do: 'upgrade', chart: 'rich', values: { other: { enabled: true } } },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'more revisions than the history keeps',
    charts: { simple },
    steps: [
      { do: 'install', chart: 'simple' },
      ...Array.from({ length: 11 }, (_, i) => ({
        do: 'upgrade' as const,
        chart: 'simple',
        values: { msg: String(i) },
      })),
      { do: 'rollback', to: 5 },
      { do: 'upgrade', chart: 'simple', values: { msg: 'last' } },
    ],
  },
  {
    title: 'strategic merges keep what others added',
    charts: {
      one: chartOf({
        d: deployment(
          'web',
          { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } },
          {
            containers: [
              {
                name: 'main',
                image: 'main:1',
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: '2' },
                ],
                ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
                volumeMounts: [{ name: 'v', mountPath: '/v' }],
                args: ['a', 'b'],
              },
              { name: 'helper', image: 'helper:1' },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
            tolerations: [{ key: 'x', operator: 'Exists' }],
          },
        ),
        s: {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web' },
          spec: {
            selector: { app: 'web' },
            ports: [
              { port: 80, name: 'a' },
              { port: 81, name: 'b' },
            ],
          },
        },
        c: configMap(
          'c',
          { keep: '1', drop: '2', change: '3' },
          { labels: { l: '1' }, annotations: { x: 'y' } },
        ),
      }),
      two: chartOf({
        d: deployment(
          'web',
          { strategy: { type: 'Recreate' } },
          {
            containers: [
              { name: 'extra', image: 'extra:1' },
              {
                name: 'main',
                image: 'main:2',
                env: [
                  { name: 'C', value: '3' },
                  { name: 'A', value: '1' },
                ],
                ports: [{ containerPort: 8080 }],
                volumeMounts: [{ name: 'v', mountPath: '/w' }],
                args: ['c'],
              },
            ],
            volumes: [{ name: 'v', configMap: { name: 'c' } }],
          },
        ),
        s: {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'web' },
          spec: {
            selector: { app: 'web' },
            ports: [
              { port: 82, name: 'c' },
              { port: 80, name: 'a', targetPort: 8080 },
            ],
          },
        },
        c: configMap('c', { keep: '1', change: '4' }),
      }),
    },
    steps: [
      { do: 'install', chart: 'one' },
      {
        do: 'edit',
        object: ['apps/v1', 'Deployment', 'shop/web'],
        patch: {
          metadata: { annotations: { added: 'by-another' } },
          spec: {
            replicas: 4,
            template: {
              metadata: { annotations: { injected: 'yes' } },
              spec: {
                containers: [
                  { name: 'sidecar', image: 'sidecar:1' },
                  {
                    name: 'main',
                    image: 'main:1',
                    env: [
                      { name: 'Z', value: '9' },
                      { name: 'A', value: '1' },
                      { name: 'B', value: '2' },
                    ],
                    ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
                    args: ['a', 'b'],
                  },
                  { name: 'helper', image: 'helper:1' },
                ],
              },
            },
          },
        },
      },
      {
        do: 'edit',
        object: ['v1', 'ConfigMap', 'shop/c'],
        patch: { data: { extra: 'x', change: '9' }, metadata: { labels: { other: '1' } } },
      },
      { do: 'upgrade', chart: 'two' },
      { do: 'upgrade', chart: 'one', force: true },
      { do: 'rollback', to: 2 },
      { do: 'uninstall', wait: true },
    ],
  },
  {
    title: 'drift is repaired by an upgrade without changes, but not for custom resources',
    charts: {
      crd: withCrd({ size: 1, deep: { a: 1 }, list: [1, 2] }),
      other: withCrd({ size: 2, list: [3] }),
    },
    steps: [
      { do: 'install', chart: 'crd' },
      {
        do: 'edit',
        object: ['stories.example.com/v1', 'Thing', 'shop/one'],
        patch: { spec: { size: 9, mine: true, deep: { a: 5, b: 6 } } },
      },
      { do: 'upgrade', chart: 'crd' },
      { do: 'upgrade', chart: 'other' },
      { do: 'delete', object: ['stories.example.com/v1', 'Thing', 'shop/one'] },
      { do: 'rollback', to: 1 },
      { do: 'uninstall' },
      { do: 'install', chart: 'crd' },
    ],
  },
  {
    title: 'objects that leave the chart are deleted unless their policy keeps them',
    charts: {
      all: chartOf({
        a: configMap('a'),
        b: configMap('b'),
        c: configMap('c', {}, { annotations: { 'helm.sh/resource-policy': 'keep' } }),
        d: { apiVersion: 'v1', kind: 'List', items: [configMap('d1'), configMap('d2')] },
      }),
      few: chartOf({ a: configMap('a'), d: { apiVersion: 'v1', kind: 'List', items: [configMap('d2')] } }),
      kept: chartOf({
        a: configMap('a', {}, { annotations: { 'helm.sh/resource-policy': ' Keep ' } }),
        e: configMap('e', {}, { annotations: { 'helm.sh/resource-policy': 'other' } }),
        f: configMap('f'),
      }),
    },
    steps: [
      { do: 'install', chart: 'all' },
      { do: 'upgrade', chart: 'few' },
      { do: 'upgrade', chart: 'kept' },
      { do: 'uninstall' },
      { do: 'install', chart: 'kept' },
    ],
  },
  {
    title: 'an object of another owner is refused, and taken over if requested',
    charts: { simple, other: chartOf({ c: configMap('foreign'), d: deployment('d') }) },
    steps: [
      {
        do: 'create',
        object: configMap(
          'foreign',
          { theirs: '1', a: 'old' },
          { namespace: 'shop', labels: { 'app.kubernetes.io/managed-by': 'someone' } },
        ),
      },
      { do: 'install', chart: 'other' },
      { do: 'install', chart: 'simple' },
      { do: 'upgrade', chart: 'other' },
      { do: 'upgrade', chart: 'other', takeOwnership: true },
      { do: 'uninstall' },
      { do: 'create', object: configMap('foreign', { theirs: '1', a: 'old' }, { namespace: 'shop' }) },
      { do: 'install', chart: 'other', takeOwnership: true },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'an object that belongs to the release already is taken over',
    charts: { other: chartOf({ c: configMap('mine'), d: configMap('new') }) },
    steps: [
      {
        do: 'create',
        object: configMap(
          'mine',
          { extra: '1', a: 'old' },
          {
            namespace: 'shop',
            labels: { 'app.kubernetes.io/managed-by': 'Helm' },
            annotations: { 'meta.helm.sh/release-name': 'demo', 'meta.helm.sh/release-namespace': 'shop' },
          },
        ),
      },
      { do: 'install', chart: 'other' },
    ],
  },
  {
    title: 'hooks run in their order, and their policies delete them',
    charts: {
      hooks: chartOf(
        {
          a: job(
            'first',
            hook('pre-install,pre-upgrade', {
              'helm.sh/hook-weight': '-5',
              'helm.sh/hook-delete-policy': 'hook-succeeded',
            }),
          ),
          b: job('second', hook('pre-install, post-upgrade,pre-rollback', { 'helm.sh/hook-weight': '3' })),
          c: configMap(
            'settings',
            {},
            {
              annotations: hook('pre-install', {
                'helm.sh/hook-weight': '-10',
                'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
              }),
            },
          ),
          d: job(
            'after',
            hook('post-install,post-rollback', { 'helm.sh/hook-delete-policy': 'before-hook-creation' }),
          ),
          e: job('bye', hook('pre-delete,post-delete', { 'helm.sh/hook-delete-policy': 'hook-succeeded' })),
          f: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: {
              name: 'pod',
              annotations: { ...hook('post-install', { 'helm.sh/hook-weight': 'x' }) },
            },
            spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'm:1' }] },
          },
          g: job('check', hook('test')),
          h: configMap('never', {}, { annotations: hook('pre-install,unknown') }),
          z: configMap('z'),
        },
        {},
      ),
    },
    steps: [
      { do: 'install', chart: 'hooks', timeout: 6 },
      { do: 'upgrade', chart: 'hooks', values: { a: 1 } },
      { do: 'rollback', to: 1 },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'a hook that fails fails the action',
    charts: {
      bad: chartOf({
        a: job(
          'ok',
          hook('pre-install,pre-upgrade', {
            'helm.sh/hook-weight': '1',
            'helm.sh/hook-delete-policy': 'hook-succeeded',
          }),
        ),
        b: job(
          'bad',
          hook('pre-install,pre-upgrade', {
            'helm.sh/hook-weight': '2',
            'helm.sh/hook-delete-policy': 'hook-failed',
          }),
          failing,
        ),
        c: configMap('c'),
      }),
      late: chartOf({ b: job('late', hook('post-install,post-upgrade'), failing), c: configMap('c') }),
      refused: chartOf({
        b: configMap('bad-name', {}, { ...refused, annotations: hook('pre-upgrade') }),
        c: configMap('c'),
      }),
      good: chartOf({ c: configMap('c') }),
      unDelete: chartOf({ c: configMap('c'), d: job('end', hook('pre-delete'), failing) }),
    },
    steps: [
      { do: 'install', chart: 'bad' },
      { do: 'install', chart: 'bad', replace: true },
      { do: 'upgrade', chart: 'late' },
      { do: 'upgrade', chart: 'good' },
      { do: 'upgrade', chart: 'refused' },
      { do: 'upgrade', chart: 'bad' },
      { do: 'upgrade', chart: 'unDelete' },
      { do: 'uninstall' },
      { do: 'uninstall' },
    ],
  },
  {
    title: 'the server refuses objects',
    charts: {
      bad: chartOf({
        a: configMap('a'),
        b: configMap('bad-name', {}, refused),
        c: configMap('also-bad', {}, refused),
        s: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bad-account', ...refused } },
      }),
      good: chartOf({ a: configMap('a'), d: deployment('d') }),
      immutable: chartOf({
        a: configMap('a', { x: 'y' }),
        d: deployment('d', { selector: { matchLabels: { app: 'd', more: 'x' } } }),
        n: configMap('new'),
      }),
      unknown: chartOf({
        a: configMap('a'),
        u: { apiVersion: 'nowhere.example.com/v1', kind: 'Unknown', metadata: { name: 'u' } },
      }),
      unknowns: chartOf({
        a: { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'n', namespace: 'x' } },
        u: { apiVersion: 'nowhere.example.com/v1', kind: 'Unknown', metadata: { name: 'u' } },
      }),
      otherNamespace: chartOf({ a: configMap('a', {}, { namespace: 'missing' }) }),
    },
    steps: [
      { do: 'install', chart: 'unknown' },
      { do: 'install', chart: 'otherNamespace' },
      { do: 'uninstall' },
      { do: 'install', chart: 'good' },
      { do: 'upgrade', chart: 'unknowns' },
      { do: 'upgrade', chart: 'immutable' },
      { do: 'upgrade', chart: 'bad', cleanUp: true },
      { do: 'upgrade', chart: 'immutable', force: true },
      { do: 'upgrade', chart: 'good' },
      { do: 'install', chart: 'good' },
      { do: 'rollback', to: 99 },
    ],
  },
  {
    title: 'several objects are refused at once',
    charts: {
      bad: chartOf({
        b: configMap('bad-name', {}, refused),
        s: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bad-account', ...refused } },
      }),
    },
    steps: [{ do: 'install', chart: 'bad' }],
  },
  {
    title: 'waits for objects, and undoes what does not become ready',
    isLong: true,
    charts: {
      good: chartOf({
        d: deployment('d'),
        s: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
        j: job('j', {}),
        t: {
          apiVersion: 'apps/v1',
          kind: 'StatefulSet',
          metadata: { name: 't' },
          spec: {
            serviceName: 's',
            replicas: 2,
            selector: { matchLabels: { app: 't' } },
            template: {
              metadata: { labels: { app: 't' } },
              spec: { containers: [{ name: 'm', image: 'm' }] },
            },
          },
        },
      }),
      stuck: chartOf({
        d: {
          ...deployment('d'),
          spec: {
            ...(deployment('d') as { spec: object }).spec,
            template: {
              metadata: { labels: { app: 'd' }, ...stuck },
              spec: { containers: [{ name: 'main', image: 'main:2' }] },
            },
          },
        },
        n: configMap('new'),
        s: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
      }),
      badJob: chartOf({ j: job('j', {}, failing) }),
    },
    steps: [
      { do: 'install', chart: 'stuck', atomic: true, timeout: 3 },
      { do: 'install', chart: 'good', wait: true, waitForJobs: true },
      { do: 'upgrade', chart: 'stuck', wait: true, timeout: 3 },
      { do: 'upgrade', chart: 'stuck', wait: true, timeout: 3, cleanUp: true },
      { do: 'upgrade', chart: 'stuck', atomic: true, timeout: 3 },
      { do: 'rollback', to: 3, wait: true, timeout: 3 },
      { do: 'uninstall', wait: true },
      { do: 'install', chart: 'badJob', wait: true, waitForJobs: true, timeout: 100 },
    ],
  },
  {
    title: 'the namespace is created',
    charts: { simple },
    steps: [
      { do: 'uninstall' },
      { do: 'install', chart: 'simple', createNamespace: true },
      { do: 'upgrade', chart: 'simple', createNamespace: true, values: { msg: 'x' } },
    ],
  },
];
