/**
 * Plants words in secrets, targets, state and results of deploy items, makes every code path that knows them fail,
 * and searches for the words in everything a process writes: statuses, conditions, events, logs at the lowest level,
 * metrics.
 */
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { request } from 'undici';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { createLogger } from '../../../src/observability/log.ts';
import { eventKind } from '../../../src/runtime/controller/recorder.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { RECONCILE, blueprint, mockItem, type BlueprintParts } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const MARK = 'MaRkEr';
const PASSWORD = `${MARK}-of-the-password`;
/** Goes beyond the end of the longest message. */
const LONG = `${MARK}-${'x'.repeat(10_000)}`;
const TOKEN = `${MARK}-of-the-target`;
const RESULT = `${MARK}-of-the-item`;
const KUBECONFIG = `apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user: {token: ${TOKEN}, password: ${MARK}1}\n`;
const CLUSTER = `${GROUP}/kubernetes-cluster`;

const go = (template: string, name = 'x') => ({ name, type: 'GoTemplate', template });
const hbs = (template: string) => ({ name: 'x', type: 'Handlebars', template });
const spiff = (expression: string) => ({ name: 'x', type: 'Spiff', template: { a: expression } });
const deploy = (...deployExecutions: object[]): BlueprintParts => ({ more: { deployExecutions } });
const item = `type: test.example/fake, config: {}`;
const text = { type: 'string' };

interface Case {
  readonly parts: BlueprintParts;
  /** The entry of the secret with the password; `pw` unless given. */
  readonly key?: 'pw' | 'long';
  /** Schema of the password. */
  readonly schema?: object;
  readonly mappings?: Readonly<Record<string, unknown>>;
}

/** What fails, each in a separate installation. */
const cases: Readonly<Record<string, Case>> = {
  'go-field': { parts: deploy(go('{{ .imports.pw.x }}')) },
  'go-range': { parts: deploy(go('{{ range .imports.pw }}{{ end }}')) },
  'go-fail': { parts: deploy(go('{{ fail (print "bad " .imports.pw) }}')) },
  'go-fail-long': {
    parts: deploy(go(`{{ fail (print "bad " .imports.pw) }}\n# ${'-'.repeat(10_000)}`)),
    key: 'long',
  },
  'go-fail-target': { parts: deploy(go('{{ fail .imports.cluster.spec.config.kubeconfig }}')) },
  'go-fail-field': {
    parts: deploy(
      go('{{ fail (index (fromYaml .imports.cluster.spec.config.kubeconfig).users 0).user.password }}'),
    ),
  },
  'go-fail-base64': { parts: deploy(go('{{ fail (b64enc .imports.pw) }}')) },
  'go-date': { parts: deploy(go('{{ mustToDate "2006" .imports.pw }}')) },
  'go-compare': { parts: deploy(go('{{ eq .imports.cluster .imports.cluster }}')) },
  'go-url': { parts: deploy(go('{{ urlParse (print ":" .imports.pw) }}')) },
  'go-version': { parts: deploy(go('{{ semver .imports.pw }}')) },
  'go-no-value': { parts: deploy(go('a: {{ .imports.none }}\nb: {{ .imports.pw }}')) },
  'go-yaml': { parts: deploy(go('a: [{{ .imports.pw }}\nb: {{ .imports.pw }}: x')) },
  'go-tag': { parts: deploy(go('a: !!int {{ .imports.pw }}')) },
  'go-key': { parts: deploy(go('? ~\n: {{ .imports.pw }}')) },
  'go-state': {
    parts: deploy(
      // Only the state has the whole word.
      go('state: {pw: "{{ print "MaRk" "Er-of-the-state" }}"}\ndeployItems: []', 's'),
      go('{{ fail (print "bad " .state.pw) }}', 's'),
    ),
  },
  'spiff-field': { parts: deploy(spiff('(( imports.pw.x.y ))')) },
  'spiff-error': { parts: deploy(spiff('(( error("bad " imports.pw) ))')) },
  'spiff-error-long': { parts: deploy(spiff('(( error("bad " imports.pw) ))')), key: 'long' },
  'spiff-integer': { parts: deploy(spiff('(( integer(imports.pw) ))')) },
  'spiff-cycle': {
    parts: deploy({ ...spiff(''), template: { a: '(( imports.pw b ))', b: '(( upper(imports.pw) a ))' } }),
  },
  'spiff-call': { parts: deploy(spiff('(( format("%d", imports.pw) imports.cluster ))')) },
  'spiff-semver': { parts: deploy(spiff('(( semver(imports.pw) ))')) },
  'hbs-missing': { parts: deploy(hbs('{{imports.pw.x}}')) },
  'hbs-fail': { parts: deploy(hbs('{{fail imports.pw}}')) },
  'hbs-kind': { parts: deploy(hbs('{{#each imports.pw}}{{/each}}')) },
  'hbs-partial': { parts: deploy(hbs('{{> (lookup imports "pw")}}')) },
  'hbs-date': { parts: deploy(hbs('{{mustToDate "2006" imports.pw}}')) },
  'item-name': {
    parts: deploy(
      go(`deployItems: [{name: "{{ .imports.pw }}", ${item}}, {name: "{{ .imports.pw }}", ${item}}]`),
    ),
  },
  'item-target': {
    parts: deploy(go(`deployItems: [{name: a, target: {import: "{{ .imports.pw }}"}, ${item}}]`)),
  },
  'item-timeout': { parts: deploy(go(`deployItems: [{name: a, timeout: "{{ .imports.pw }}", ${item}}]`)) },
  'item-depends': {
    parts: deploy(go(`deployItems: [{name: a, dependsOn: ["{{ .imports.pw }}"], ${item}}]`)),
  },
  'import-errors': { parts: { more: { importExecutions: [go('errors: ["not {{ .imports.pw }}"]')] } } },
  'import-broken': { parts: { more: { importExecutions: [go('errors: {{ .imports.pw }}')] } } },
  'child-name': {
    parts: {
      more: {
        subinstallationExecutions: [
          go('subinstallations: [{name: "{{ .imports.pw }}/", blueprint: {filesystem: {}}}]'),
        ],
      },
    },
  },
  'child-imports': {
    parts: {
      more: {
        subinstallationExecutions: [
          go(
            'subinstallations: [{name: a, blueprint: {filesystem: {}}, imports: {data: [{name: x, dataRef: "{{ .imports.pw }}"}]}}]',
          ),
        ],
      },
    },
  },
  'schema-type': { parts: {}, schema: { type: 'integer' } },
  'schema-pattern': { parts: {}, schema: { type: 'string', pattern: '^x$' } },
  'schema-enum': { parts: {}, schema: { enum: ['a'] } },
  'schema-broken': { parts: {}, schema: { type: 'nonsense' } },
  'mapping-missing': { parts: {}, mappings: { pw: '(( pw.none ))' } },
  'mapping-join': { parts: {}, mappings: { pw: '(( cluster.spec pw ))' } },
  'export-fail': {
    parts: {
      items: [mockItem('a', { export: { pw: RESULT } })],
      more: { exportExecutions: [go('{{ fail .values.deployitems.a.pw }}')] },
    },
  },
  'export-range': {
    parts: {
      items: [mockItem('a', { export: { pw: RESULT } })],
      more: { exportExecutions: [go('{{ range .deployitems.a.pw }}{{ end }}')] },
    },
  },
  'export-target': { parts: { more: { exportExecutions: [go('{{ fail (toString .targets) }}')] } } },
  'export-schema': {
    parts: {
      more: {
        exports: [{ name: 'out', type: 'data', schema: { type: 'integer' } }],
        exportExecutions: [go('exports: {out: "{{ .imports.pw }}"}')],
      },
    },
  },
};

const installation = (
  name: string,
  { parts, key = 'pw', schema, mappings }: Case,
): Obj & { spec: object } => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name, annotations: { ...RECONCILE } },
  spec: {
    imports: {
      data: [{ name: 'pw', secretRef: { name: 'password', key } }],
      targets: [{ name: 'cluster', target: 'cluster' }],
    },
    ...(mappings && { importDataMappings: mappings }),
    blueprint: {
      inline: {
        filesystem: {
          'blueprint.yaml': JSON.stringify(
            blueprint({
              ...parts,
              more: {
                imports: [
                  { name: 'pw', type: 'data', schema: schema ?? text },
                  { name: 'cluster', type: 'target', targetType: CLUSTER },
                ],
                ...parts.more,
              },
            }),
          ),
        },
      },
    },
  },
});

const log = new PassThrough();
const lines: string[] = [];
log.on('data', (chunk: Buffer) => lines.push(chunk.toString()));

describe('a secret value', () => {
  const here = useCluster({
    controllers: ['installation', 'execution', 'deployitem'],
    more: {
      log: createLogger({ level: 'trace', destination: log }),
      metricsAddress: { host: '127.0.0.1', port: 0 },
    },
  });
  let scene: Scene;
  const messages = new Map<string, string>();

  before(async function () {
    this.timeout(120_000);
    scene = await here.scene();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret' as const,
      metadata: { name: 'password', namespace: scene.ns },
      data: {
        pw: Buffer.from(PASSWORD).toString('base64'),
        long: Buffer.from(LONG).toString('base64'),
      },
    };
    await here.cluster.client.send({ verb: 'create', kind: secretKind, object: secret });
    const spec = { type: CLUSTER, config: { kubeconfig: KUBECONFIG } };
    await scene.create({
      apiVersion: API_VERSION,
      kind: 'Target',
      metadata: { name: 'cluster' },
      spec,
    } as Obj);
    for (const [name, given] of Object.entries(cases)) await scene.create(installation(name, given));
    for (const name of Object.keys(cases)) {
      const { status } = await scene.finished(name, 'Failed', { ms: 90_000 });
      messages.set(name, status?.lastError?.message ?? '');
    }
  });

  for (const name of Object.keys(cases)) {
    it(`stays secret when this fails: ${name}`, () => {
      expect(messages.get(name), 'the failure is told').not.to.equal('');
      const { status } = scene.installation(name) ?? {};
      expect(JSON.stringify(status)).not.to.contain(MARK);
      expect(JSON.stringify(status)).not.to.contain(Buffer.from(PASSWORD).toString('base64'));
    });
  }

  it('does not make messages too long for a status', () => {
    for (const [name, message] of messages) expect(Buffer.byteLength(message), name).to.be.below(8400);
  });

  it('is in no status', () => {
    const all = here.cluster.history(scene.ns).map(({ object }) => object as Obj & { status?: unknown });
    expect(all.length).to.be.greaterThan(100);
    for (const { kind, metadata, status } of all) {
      // Users configure the status of the mock deployer.
      if (kind === 'DeployItem') continue;
      expect(JSON.stringify(status ?? {}), `${kind} ${metadata.name}`).not.to.contain(MARK);
    }
  });

  it('is in no event', async () => {
    const items: unknown[] = [];
    for await (const page of here.cluster.client.list(eventKind, { namespace: scene.ns })) {
      items.push(...page.items);
    }
    expect(items.length).to.be.greaterThan(10);
    expect(JSON.stringify(items)).not.to.contain(MARK);
  });

  it('is in no line of the log', () => {
    expect(lines.length).to.be.greaterThan(100);
    expect(lines.filter((line) => line.includes(MARK))).to.deep.equal([]);
  });

  it('is in no metric', async () => {
    const url = here.controllers.landscaper.health?.url ?? '';
    const metrics = await (await request(`${url}/metrics`)).body.text();
    expect(metrics).to.contain('espalier_phase_transitions_total');
    expect(metrics).not.to.contain(MARK);
  });
});
