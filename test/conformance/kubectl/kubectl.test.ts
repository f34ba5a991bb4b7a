/**
 * kubectl as users run it, with the embedded server or the one ESPALIER_TEST_KUBECONFIG names: scenarios API-183,
 * API-184.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../../../src/apiserver/server.ts';
import type { ApiServer } from '../../../src/apiserver/server.ts';
import { skip } from '../../support/skip.ts';
import { eventually } from '../../support/waiting.ts';

const EXTERNAL = process.env['ESPALIER_TEST_KUBECONFIG'];

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        image: nginx:1
        ports: [{containerPort: 80}]
`;

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", b: "2"}
`;

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget, shortNames: [gd], categories: [toys]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Phase, type: string, jsonPath: .status.phase}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              color: {type: string, default: red}
          status: {type: object, properties: {phase: {type: string}}}
`;

const GADGET = `apiVersion: kubectl.example.com/v1
kind: Gadget
metadata: {name: g}
spec: {size: 3}
`;

describe('kubectl', function () {
  this.timeout(60_000);
  let server: ApiServer | undefined;
  let dir: string;
  let kubeconfig: string;
  let namespaces = 0;
  let ns: string;

  before(async function () {
    if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
      skip(this, 'kubectl is not on the PATH');
    }
    dir = mkdtempSync(join(tmpdir(), 'espalier-kubectl-'));
    kubeconfig = EXTERNAL ?? join(dir, 'kubeconfig');
    if (EXTERNAL === undefined) {
      server = await startApiServer({ simulate: true });
      writeFileSync(kubeconfig, server.kubeconfig);
    }
  });
  after(async () => {
    await server?.close();
    if (dir) rmSync(dir, { recursive: true });
  });
  beforeEach(async () => {
    ns = `kubectl-${process.pid}-${++namespaces}`;
    await run('create', 'namespace', ns);
  });

  const flags = (): string[] => [
    `--kubeconfig=${kubeconfig}`,
    `--cache-dir=${join(dir, 'cache')}`,
    ...(ns ? [`--namespace=${ns}`] : []),
  ];

  function run(...args: string[]): Promise<Outcome> {
    return runWith({}, ...args);
  }

  function runWith(
    options: { input?: string; env?: Record<string, string> },
    ...args: string[]
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = execFile(
        'kubectl',
        [...flags(), ...args],
        { env: { ...process.env, ...options.env } },
        (error, out, err) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), out: out.trim(), err: err.trim() });
        },
      );
      child.stdin?.end(options.input ?? '');
    });
  }

  let files = 0;
  const file = (text: string): string => {
    const path = join(dir, `object-${++files}.yaml`);
    writeFileSync(path, text);
    return path;
  };
  const ok = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await run(...args);
    expect(code, `kubectl ${args.join(' ')}: ${err}`).to.equal(0);
    return out;
  };
  const jsonOf = async (...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await ok('get', ...args, '-o', 'json')) as Record<string, unknown>;

  for (const [what, text, name] of [
    ['a built-in kind', CONFIG_MAP, 'configmap/settings'],
    ['a workload', DEPLOYMENT, 'deployment.apps/web'],
  ] as const)
    it(`API-183: applies ${what}, again, and with changes`, async () => {
      const path = file(text);
      expect(await ok('apply', '-f', path)).to.equal(`${name} created`);
      expect(await ok('apply', '-f', path)).to.equal(`${name} unchanged`);
      expect((await run('diff', '-f', path)).code).to.equal(0);
      const changed = file(text.replace('a: "1"', 'a: "9"').replace('nginx:1', 'nginx:2'));
      expect((await run('diff', '-f', changed)).code).to.equal(1);
      expect(await ok('apply', '--dry-run=server', '-f', changed)).to.equal(
        `${name} configured (server dry run)`,
      );
      expect(await ok('apply', '-f', changed)).to.equal(`${name} configured`);
      expect(await ok('apply', '--server-side', '--force-conflicts', '-f', path)).to.equal(
        `${name} serverside-applied`,
      );
      expect(await ok('replace', '-f', changed)).to.equal(`${name} replaced`);
    });

  it('API-183: applies custom kinds, validates and explains them', async () => {
    await ok('apply', '-f', file(CRD));
    await ok('wait', '--for=condition=Established', 'crd/gadgets.kubectl.example.com', '--timeout=20s');
    const path = file(GADGET);
    let made = await run('apply', '-f', path);
    for (let i = 0; i < 50 && made.code !== 0; i++) made = await run('apply', '-f', path);
    expect(made.out).to.equal('gadget.kubectl.example.com/g created');
    expect(await ok('apply', '-f', file(GADGET.replace('3', '4')))).to.equal(
      'gadget.kubectl.example.com/g configured',
    );
    expect(await ok('get', 'gd', '--no-headers')).to.match(/^g\s+4$/);
    expect(await ok('get', 'gd', 'g', '-o', 'jsonpath={.spec}')).to.equal('{"color":"red","size":4}');
    const wrong = await run('apply', '-f', file(GADGET.replace('size: 3', 'size: 3, bogus: 1')));
    expect(wrong.code).to.equal(1);
    expect(wrong.err).to.match(/strict decoding error: unknown field "spec.bogus"/);
    const small = await run('apply', '-f', file(GADGET.replace('size: 3', 'size: 0')));
    expect(small.err).to.match(
      /spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1/,
    );
    expect(await ok('explain', 'gadget.spec')).to.match(/size\s+<integer> -required-\s+How large it is\./);
    expect(await ok('api-resources', '--api-group=kubectl.example.com', '--no-headers')).to.match(
      /^gadgets\s+gd\s+kubectl.example.com\/v1\s+true\s+Gadget$/,
    );
    expect(
      await ok(
        'patch',
        'gadget',
        'g',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"phase":"Good"}}',
      ),
    ).to.equal('gadget.kubectl.example.com/g patched');
    expect(await ok('get', 'toys', '--no-headers')).to.match(/^g\s+4\s+Good$/);
    expect((await run('patch', 'gadget', 'g', '-p', '{"spec":{"size":5}}')).err).to.match(
      /the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
    );
    expect(await ok('delete', 'gadget', 'g')).to.equal('gadget.kubectl.example.com "g" deleted');
    await ok('delete', 'crd', 'gadgets.kubectl.example.com');
  });

  it('API-183: labels, annotates, edits, scales, sets an image', async () => {
    await ok('apply', '-f', file(DEPLOYMENT));
    expect(await ok('label', 'deployment', 'web', 'tier=front')).to.equal('deployment.apps/web labeled');
    expect(await ok('annotate', 'deployment', 'web', 'note=x')).to.equal('deployment.apps/web annotated');
    expect(await ok('scale', 'deployment', 'web', '--replicas=3')).to.equal('deployment.apps/web scaled');
    expect(await ok('set', 'image', 'deployment/web', 'c=nginx:7')).to.equal(
      'deployment.apps/web image updated',
    );
    const edited = await runWith(
      { env: { KUBE_EDITOR: "sed -i 's/nginx:7/nginx:8/'" } },
      'edit',
      'deployment',
      'web',
    );
    expect(edited.out).to.equal('deployment.apps/web edited');
    expect(
      await ok(
        'get',
        'deployment',
        'web',
        '-o',
        'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.metadata.labels.tier}',
      ),
    ).to.equal('3 nginx:8 front');
    expect(await ok('get', 'deployment', '-l', 'tier=front', '-o', 'name')).to.equal('deployment.apps/web');
    expect(await ok('rollout', 'restart', 'deployment/web')).to.equal('deployment.apps/web restarted');
  });

  it('API-183: creates, gets and waits', async () => {
    expect(await ok('create', '-f', file(CONFIG_MAP))).to.equal('configmap/settings created');
    const again = await run('create', '-f', file(CONFIG_MAP));
    expect(again.err).to.match(
      /^Error from server \(AlreadyExists\): error when creating ".*": configmaps "settings" already exists$/,
    );
    expect(await ok('get', 'cm', 'settings', '--no-headers')).to.match(/^settings\s+2\s+\d+s$/);
    expect((await run('get', 'cm', 'nope')).err).to.equal(
      'Error from server (NotFound): configmaps "nope" not found',
    );
    expect((await run('get', 'nope')).err).to.equal('error: the server doesn\'t have a resource type "nope"');
    const waiting = run('wait', '--for=jsonpath={.data.a}=5', 'cm/settings', '--timeout=20s');
    await ok('patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"a":"5"}}');
    expect((await waiting).out).to.equal('configmap/settings condition met');
    expect(await ok('delete', 'cm', 'settings')).to.equal('configmap "settings" deleted');
    expect(await ok('wait', '--for=delete', 'cm/settings', '--timeout=5s')).to.equal('');
  });

  it('API-183: deletes in the foreground, by label, and by force', async () => {
    for (const name of ['a', 'b', 'c']) await ok('create', 'configmap', name);
    await ok('label', 'cm', 'a', 'b', 'x=1');
    expect(await ok('delete', 'cm', '-l', 'x=1')).to.equal('configmap "a" deleted\nconfigmap "b" deleted');
    expect(await ok('delete', 'cm', 'c', '--force', '--grace-period=0')).to.equal(
      'configmap "c" force deleted',
    );
    if (EXTERNAL !== undefined) return;
    await ok('create', 'configmap', 'd');
    expect(await ok('delete', 'cm', 'd', '--cascade=foreground')).to.equal('configmap "d" deleted');
  });

  it('API-184: creates typed objects, which are sent as protobuf', async () => {
    expect(await ok('create', 'configmap', 'c', '--from-literal=a=b')).to.equal('configmap/c created');
    expect(await ok('create', 'secret', 'generic', 's', '--from-literal=a=b')).to.equal('secret/s created');
    expect(await ok('create', 'serviceaccount', 'sa')).to.equal('serviceaccount/sa created');
    expect(await ok('create', 'role', 'r', '--verb=get', '--resource=pods')).to.equal(
      'role.rbac.authorization.k8s.io/r created',
    );
    expect(await ok('create', 'rolebinding', 'rb', '--role=r', '--user=bob')).to.equal(
      'rolebinding.rbac.authorization.k8s.io/rb created',
    );
    expect(await ok('create', 'deployment', 'd', '--image=nginx', '--replicas=0')).to.equal(
      'deployment.apps/d created',
    );
    expect(await ok('create', 'job', 'j', '--image=busybox')).to.equal('job.batch/j created');
    expect(await ok('create', 'cronjob', 'cj', '--image=busybox', '--schedule=* * * * *')).to.equal(
      'cronjob.batch/cj created',
    );
    expect(await ok('create', 'service', 'clusterip', 'svc', '--tcp=80:8080')).to.equal(
      'service/svc created',
    );
    expect(await ok('create', 'quota', 'q', '--hard=pods=2')).to.equal('resourcequota/q created');
    const { spec } = (await jsonOf('deployment', 'd')) as {
      spec: { replicas: number; template: { spec: object } };
    };
    expect(spec.replicas).to.equal(0);
    expect(spec.template.spec).to.not.have.any.keys('hostNetwork', 'nodeName', 'priority');
    expect(await jsonOf('secret', 's')).to.deep.include({ data: { a: 'Yg==' }, type: 'Opaque' });
    expect((await jsonOf('cm', 'c'))['data']).to.deep.equal({ a: 'b' });
  });

  it('API-184: creates tokens and shows what a user may do', async () => {
    await ok('create', 'serviceaccount', 'sa');
    expect(await ok('create', 'token', 'sa')).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await ok('auth', 'can-i', 'list', 'pods')).to.equal('yes');
    expect(await ok('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}')).to.match(/system:masters/);
  });

  it('API-184: describes objects', async () => {
    await ok('create', 'configmap', 'c', '--from-literal=a=b');
    const text = await ok('describe', 'cm', 'c');
    expect(text).to.match(/^Name:\s+c$/m);
    expect(text).to.match(/^a:\n----\nb$/m);
    await ok('apply', '-f', file(DEPLOYMENT));
    expect(await ok('describe', 'deployment', 'web')).to.match(/^StrategyType:\s+RollingUpdate$/m);
    expect(await ok('describe', 'namespace', ns)).to.match(/^Status:\s+Active$/m);
  });

  it('explains built-in kinds and lists API resources', async () => {
    expect(await ok('explain', 'deployment.spec.replicas')).to.match(/^FIELD: replicas <integer>$/m);
    expect(await ok('explain', 'pods', '--recursive')).to.match(/containers\t<\[\]Container>/);
    expect(await ok('api-versions')).to.match(/^apps\/v1$/m);
    expect(await ok('api-resources', '--namespaced=false', '-o', 'name')).to.match(/^namespaces$/m);
    expect(await ok('get', '--raw', '/readyz')).to.equal('ok');
    expect(await ok('version', '-o', 'json')).to.match(/"serverVersion"/);
    expect(await ok('get', 'all')).to.equal('');
  });

  it('watches', async () => {
    await ok('create', 'configmap', 'c');
    const watching = spawn('kubectl', [...flags(), 'get', 'cm', 'c', '-w', '--no-headers']);
    let out = '';
    watching.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const lines = (count: number) =>
      eventually(`kubectl prints ${count} lines`, () => out.split('\n').length > count, {
        why: () => `; it printed ${out}`,
      });
    try {
      await lines(1);
      for (const n of [2, 3]) {
        await ok('label', 'cm', 'c', `n=${n}`, '--overwrite');
        await lines(n);
      }
    } finally {
      watching.kill();
    }
  });

  it('shows workloads becoming ready if they are simulated', async function () {
    if (EXTERNAL !== undefined) skip(this, 'only the embedded server simulates workloads');
    await ok('apply', '-f', file(DEPLOYMENT));
    expect(await ok('rollout', 'status', 'deployment/web', '--timeout=10s')).to.match(
      /successfully rolled out/,
    );
    await ok('create', 'job', 'j', '--image=busybox');
    expect(await ok('wait', '--for=condition=Complete', 'job/j', '--timeout=10s')).to.equal(
      'job.batch/j condition met',
    );
    expect(await ok('delete', 'deployment', 'web', '--cascade=foreground')).to.equal(
      'deployment.apps "web" deleted',
    );
    expect(await ok('delete', 'namespace', ns)).to.equal(`namespace "${ns}" deleted`);
  });
});
