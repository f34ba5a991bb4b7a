import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createChartCache } from '../../../../deployers/helm/cache.ts';
import { isUnchangedOnCluster } from '../../../../deployers/helm/drift.ts';
import { actionFlags, timeoutFlag, timeoutFor } from '../../../../deployers/helm/flags.ts';
import { errorMessageOf, findHelm, HelmMissing } from '../../../../deployers/helm/helm-cli.ts';
import { maskFor } from '../../../../deployers/helm/errors.ts';
import { elementsIn } from '../../../../deployers/helm/release.ts';
import type { ReleaseRecord } from '../../../../deployers/helm/releases.ts';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import { chartsHere } from '../../../support/helm-charts.ts';
import type { KubeObject } from '../../../../deployers/objects/manifests/model.ts';
import { FakeClock } from '../../../support/clock.ts';
import { configMap } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const plain = {
  atomic: false,
  force: false,
  skipSchemaValidation: false,
  takeOwnership: false,
  wait: false,
  timeoutMs: undefined,
};

describe('options of helm', () => {
  it('are named as in the version of helm', () => {
    const all = {
      ...plain,
      atomic: true,
      force: true,
      wait: true,
      skipSchemaValidation: true,
      takeOwnership: true,
    };
    const common = ['--skip-schema-validation', '--take-ownership'];
    expect(actionFlags(all, 3)).to.deep.equal(['--atomic', '--wait', '--force', ...common]);
    expect(actionFlags(all, 4)).to.deep.equal([
      '--rollback-on-failure',
      '--wait',
      '--force-replace',
      ...common,
    ]);
  });

  const cases: readonly (readonly [string, object, number, boolean, string])[] = [
    ['nearly all of the remaining time of the job', {}, 100_000, false, '90000ms'],
    ['the time that the user sets, if it is less', { timeoutMs: 5000 }, 100_000, false, '5000ms'],
    ['no more than the remaining time', { timeoutMs: 500_000 }, 100_000, false, '90000ms'],
    [
      'half of it for an atomic upgrade, because a rollback may take as long',
      { atomic: true },
      100_000,
      true,
      '50000ms',
    ],
    ['a day for a job without a timeout', {}, Infinity, false, '77760000ms'],
  ];
  for (const [what, options, left, isUpgrade, flag] of cases) {
    it(`give helm ${what}`, () => {
      expect(timeoutFlag(timeoutFor({ ...plain, ...options }, left, isUpgrade))).to.deep.equal([
        '--timeout',
        flag,
      ]);
    });
  }
});

describe('the objects in the record of a release', () => {
  const recordOf = (release: string): ReleaseRecord => ({
    revision: 1,
    status: 'deployed',
    createdAt: undefined,
    labels: {},
    secret: { name: 'r', namespace: 'n', uid: undefined },
    content: () => Promise.resolve(release),
  });
  const packed = (text: string): string => Buffer.from(gzipSync(text).toString('base64')).toString('base64');
  const read = async (release: string): Promise<string[]> =>
    (await elementsIn(recordOf(release), chartsHere()('n'))).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );
  const namesIn = (...documents: object[]): Promise<string[]> => {
    const manifest = documents.map((document) => `---\n${JSON.stringify(document)}\n`).join('');
    return read(packed(JSON.stringify({ manifest })));
  };

  it('include those in lists, also in lists without metadata', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap('b'), configMap('c')] };
    expect(await namesIn(configMap('a'), list)).to.deep.equal(['ConfigMap a', 'ConfigMap b', 'ConfigMap c']);
  });

  it('are complete if only a field has the name of a field of lists', async () => {
    const menu = { apiVersion: 'x.example.org/v1', kind: 'Menu', metadata: { name: 'm' }, items: ['soup'] };
    expect(await namesIn(menu)).to.deep.equal(['Menu m']);
  });

  it('are none if the record is damaged', async () => {
    expect(await read('e30=')).to.deep.equal([]);
  });

  const wide = { ...configMap('w'), list: Array.from({ length: 140_000 }, () => 0) };
  const excessive: readonly (readonly [string, string, RegExp])[] = [
    ['is longer than any secret', 'A'.repeat(3 * 2 ** 20), /has 3145728 characters.+fixed limit/],
    ['unpacks to 40 MiB', packed(' '.repeat(40 * 2 ** 20)), /more than 32 MiB, unpacked.+fixed limit/],
    ['has millions of values', packed(`[${'{},'.repeat(2_000_000)}{}]`), /more than 1000000 values.+limit/],
    [
      'has an object with too many values',
      packed(JSON.stringify({ manifest: JSON.stringify(wide) })),
      /131072 values.+fixed limit/,
    ],
  ];
  for (const [title, release, sentence] of excessive) {
    it(`end the job if the record ${title}`, async () => {
      const error = await read(release).catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(ConfigurationError).with.property('message').that.matches(sentence);
      expect(error)
        .to.have.property('message')
        .that.contains('the release record in secret n/r of the target cannot be read');
    });
  }
});

describe('a release that may have changed', () => {
  const cluster = new FakeCluster('app');
  cluster.put(configMap('a', { k: 'v', more: 'x' }));
  cluster.put(configMap('n', { k: '1' }));
  cluster.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'app' },
    data: { k: Buffer.from('v').toString('base64') },
  });
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
  cluster.put({ ...role, metadata: { name: 'r' } });
  const deployment = (cpu: string | number, memory: string): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'app' },
    spec: { containers: [{ resources: { requests: { cpu }, limits: { memory } } }] },
  });
  cluster.put(deployment('1', '512Mi'));
  const { signal } = new AbortController();
  const is = (...objects: object[]) => isUnchangedOnCluster(objects as KubeObject[], 'app', cluster, signal);
  const secret = (value: string): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    stringData: { k: value },
  });

  const cases: readonly (readonly [string, object, boolean])[] = [
    ['fields of others are not drift', configMap('a', { k: 'v' }), true],
    ['another value is drift', configMap('a', { k: 'w' }), false],
    ['a missing object is drift', configMap('b', {}), false],
    ['a missing label is drift', configMap('a', { k: 'v' }, { labels: { l: '1' } }), false],
    ['stringData of a secret is compared with its data', secret('v'), true],
    ['another string of a secret is drift', secret('w'), false],
    ['a missing kind is drift', { ...configMap('a', {}), kind: 'Nothing' }, false],
    [
      'a namespace of a cluster-scoped kind is ignored',
      { ...role, metadata: { name: 'r', namespace: 'app' } },
      true,
    ],
    ['quantities are compared in canonical form', deployment('1000m', '0.5Gi'), true],
    ['another quantity is drift', deployment(2, '512Mi'), false],
    [
      'elsewhere strings that look like quantities are compared as strings',
      configMap('n', { k: '1000m' }),
      false,
    ],
    [
      'empty fields are ignored',
      { ...configMap('a', { k: 'v' }), binaryData: {}, immutable: false, count: 0, text: '' },
      true,
    ],
    ['a missing number is drift', { ...configMap('a', { k: 'v' }), count: 1 }, false],
  ];
  for (const [what, object, answer] of cases) {
    it(what, async () => {
      expect(await is(object)).to.equal(answer);
    });
  }
});

describe('error messages of helm', () => {
  const answer = (stderr: string) => errorMessageOf({ isOk: false, stdout: '', stderr });

  it('are shown without the log output of helm', () => {
    const log =
      'coalesce.go:289: warning: destination for a.b is a table. Ignoring non-table value (hunter22)';
    expect(answer(`${log}\nError: INSTALLATION FAILED: no\n`)).to.equal('INSTALLATION FAILED: no');
  });

  it('do not repeat the input of tpl', () => {
    const text = answer('Error: x: error during tpl function execution for "{{ \\"a\\" }} hunter22": boom');
    expect(text).to.equal('x: error during tpl function execution for [...]: boom');
  });

  const values = {
    password: 'hunter22',
    list: [{ a: 'demo' }],
    on: 'yes',
    key: 'line one\nline "two"',
    pin: 4711,
  };
  const messages: readonly (readonly [string, string, string])[] = [
    ['a string, except well-known names', 'demo said hunter22, yes', 'demo said [...], yes'],
    ['two lines in quotes', `wrong type: ${JSON.stringify(values.key)}`, 'wrong type: "[...]"'],
    ['a string in base64', `data: ${Buffer.from('hunter22').toString('base64')}`, 'data: [...]'],
    ['a number', 'expected string, got 4711', 'expected string, got [...]'],
  ];
  for (const [what, message, shown] of messages) {
    it(`do not show of values ${what}`, () => {
      expect(maskFor({ name: 'demo', namespace: 'app', values })(message)).to.equal(shown);
    });
  }
});

describe('the helm program', () => {
  for (const [title, output] of [
    ['of Helm 2', 'echo v2.17.0'],
    ['of something else', 'echo usage'],
    ['that fails', 'echo v3.1.0; exit 1'],
  ] as const)
    it(`${title} is refused`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
      try {
        const program = join(folder, 'helm');
        writeFileSync(program, `#!/bin/sh\n${output}\n`, { mode: 0o700 });
        expect(() => findHelm(program)).to.throw(HelmMissing, 'is not Helm 3 or later');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
});

describe('a cancelled helm process', () => {
  it('is not started', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    try {
      const program = join(folder, 'helm');
      const started = join(folder, 'started');
      writeFileSync(program, `#!/bin/sh\n[ "$1" = version ] && echo v3.1.0 || : > '${started}'\n`, {
        mode: 0o700,
      });
      const call = { args: ['install'], kubeconfig: '', files: {} };
      const helm = findHelm(program);
      const ending = new AbortController();
      const answer = helm.run({ ...call, signal: ending.signal }).catch((error: unknown) => error);
      ending.abort(); // while the folder of helm is created
      expect(await answer).to.equal(ending.signal.reason);
      expect(existsSync(started)).to.equal(false);
      await helm.run({ ...call, signal: new AbortController().signal });
      expect(existsSync(started)).to.equal(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('cached charts', () => {
  const bytes = (n: number): Uint8Array => new Uint8Array(n);

  it('are fetched again after a day', async () => {
    const clock = new FakeClock();
    const cache = createChartCache(clock, 1000);
    let fetched = 0;
    const get = () => cache.get('a', () => Promise.resolve(bytes(++fetched)));
    await get();
    await clock.advance(23 * 3_600_000);
    expect((await get()).length).to.equal(1);
    await clock.advance(3_600_001);
    expect((await get()).length).to.equal(2);
  });

  it('are replaced by newer ones, the oldest first', async () => {
    const cache = createChartCache(new FakeClock(), 10_000);
    const fetched: string[] = [];
    const get = (key: string) =>
      cache.get(key, () => {
        fetched.push(key);
        return Promise.resolve(bytes(4_000));
      });
    for (const key of ['a', 'b', 'c', 'b', 'a']) await get(key);
    expect(fetched).to.deep.equal(['a', 'b', 'c', 'a']);
  });
});
