import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { ConfigurationError } from '../../../../deployers/sdk/errors.ts';
import {
  decodeExports,
  exportTimeout,
  exportWait,
  readExports,
  type ExportReading,
  type ExportSpec,
} from '../../../../deployers/objects/exports.ts';
import { InvalidObjectName } from '../../../../src/runtime/errors.ts';
import { configMap } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const source = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one' };
const entry = (fields: object = {}): object => ({
  key: 'k',
  jsonPath: '.data.a',
  fromResource: source,
  ...fields,
});
const reference = { apiVersion: 'v1', kind: 'Secret', jsonPath: '.data.token' };
const decoded = (...exports: unknown[]) => decodeExports({ exports }, 'exports');

describe('the exports of a configuration', () => {
  it('may be missing, which is not the same as an empty list', () => {
    expect([decodeExports(undefined, 'e'), decodeExports(null, 'e')]).to.deep.equal([undefined, undefined]);
    expect([decodeExports({}, 'e'), decoded()]).to.deep.equal([[], []]);
  });

  it('are read with all their fields', () => {
    const whole = entry({
      targetName: 'b',
      fromResource: { ...source, namespace: 'app' },
      fromObjectRef: reference,
    });
    expect(decoded(whole)).to.deep.equal([
      {
        key: 'k',
        jsonPath: '.data.a',
        targetName: 'b',
        from: { ...source, namespace: 'app' },
        objectRef: reference,
      },
    ]);
    expect(decoded(entry({ targetName: '', fromResource: { ...source, namespace: '' } }))).to.deep.equal([
      { key: 'k', jsonPath: '.data.a', targetName: undefined, from: { ...source, namespace: undefined } },
    ]);
    expect(decoded({})).to.deep.equal([{ key: '', jsonPath: '', targetName: undefined }]);
  });

  const missing = 'Required value: must not be empty';
  const refused: readonly (readonly [unknown, string])[] = [
    ['x', ': expected an object'],
    [entry({ fromResource: 'x' }), '.fromResource: expected an object'],
    [entry({ fromObjectRef: 'x' }), '.fromObjectRef: expected an object'],
    [entry({ jsonPath: '' }), `.jsonPath: ${missing}`],
    ...['apiVersion', 'kind', 'name'].map(
      (field) =>
        [entry({ fromResource: { ...source, [field]: '' } }), `.fromResource.${field}: ${missing}`] as const,
    ),
    ...['apiVersion', 'kind', 'jsonPath'].map(
      (field) =>
        [
          entry({ fromObjectRef: { ...reference, [field]: '' } }),
          `.fromObjectRef.${field}: ${missing}`,
        ] as const,
    ),
    [entry({ jsonPath: 1 }), '.jsonPath: expected a string'],
    [{ key: 1 }, '.key: expected a string'],
    [entry({ targetName: 1 }), '.targetName: expected a string'],
    [entry({ fromResource: { ...source, namespace: 1 } }), '.namespace: expected a string'],
  ];
  for (const [each, message] of refused) {
    it(`are rejected with their path: ${message}`, () => {
      expect(() => decoded(entry(), each)).to.throw(CodecError, `exports.exports[1]${message}`);
    });
  }
  it('are rejected with their path: exports.exports: expected a list', () => {
    expect(() => decodeExports({ exports: {} }, 'exports')).to.throw(
      CodecError,
      'exports.exports: expected a list',
    );
    expect(() => decodeExports('x', 'exports')).to.throw(CodecError, 'exports: expected an object');
  });
});

describe('collecting exports', () => {
  const from = { ...source, namespace: 'app' };
  const spec = (key: string, more: Partial<ExportSpec> = {}): ExportSpec => ({
    key,
    jsonPath: '.data.a',
    from,
    ...more,
  });

  function given() {
    const [cluster, second] = [new FakeCluster('app'), new FakeCluster('app')];
    cluster.put(configMap('one', { a: 'x', b: 'y' }));
    second.put(configMap('one', { a: 'elsewhere' }));
    const life = new AbortController();
    const [checkpoints, asked]: [string[], string[]] = [[], []];
    const look = (
      specs: readonly ExportSpec[],
      known?: ReadonlyMap<string, unknown>,
    ): Promise<ExportReading> =>
      readExports(
        specs,
        {
          access: cluster,
          signal: life.signal,
          secondary: (name) => {
            asked.push(name);
            return Promise.resolve(second);
          },
          assertTimeLeft: (name) => checkpoints.push(name),
        },
        known,
      );
    return { cluster, life, checkpoints, asked, look };
  }
  const complete = (value: object) => ({ isComplete: true, value });

  it('puts values together under dotted keys, with those from other sources', async () => {
    const { look, checkpoints } = given();
    const known = new Map<string, unknown>([
      ['db.port', 5],
      ['plain', 'p'],
    ]);
    const specs = [
      spec('db.host'),
      spec('db.deep.user', { jsonPath: '.data.b' }),
      spec('plain.x'),
      { key: 'none', jsonPath: '' },
    ];
    expect(await look(specs, known)).to.deep.equal(
      complete({ db: { port: 5, host: 'x', deep: { user: 'y' } }, plain: { x: 'x' } }),
    );
    expect(checkpoints).to.deep.equal(
      ['db.host', 'db.deep.user', 'plain.x'].map((key) => `deployer: during export - key: ${key}`),
    );
    expect(await look([])).to.deep.equal(complete({}));
  });

  it('does not confuse a key with an inherited property', async () => {
    const { value } = (await given().look([spec('__proto__.a'), spec('constructor.b')])) as { value: object };
    expect(Object.keys(value)).to.deep.equal(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['a']).to.equal(undefined);
  });

  it('may read another target', async () => {
    const { look, asked } = given();
    expect(await look([spec('k', { targetName: 'b' }), spec('l')])).to.deep.equal(
      complete({ k: 'elsewhere', l: 'x' }),
    );
    expect(asked).to.deep.equal(['b']);
  });

  it('may follow a reference, which names a namespace or uses that of its object', async () => {
    const { look, cluster } = given();
    const objectRef = { apiVersion: 'v1', kind: 'ConfigMap', jsonPath: '.data.v' };
    cluster.put(configMap('two', { v: 'near' }));
    cluster.put({ ...configMap('two', { v: 'far' }), metadata: { name: 'two', namespace: 'late' } });
    cluster.put({
      ...configMap('refs'),
      near: { name: 'two' },
      far: { name: 'two', namespace: 'late' },
      open: { name: 'two', namespace: '' },
    });
    const refs = { ...from, name: 'refs' };
    const to = (path: string) => spec(path, { jsonPath: `.${path}`, from: refs, objectRef });
    expect(await look(['near', 'far', 'open'].map(to))).to.deep.equal(
      complete({ near: 'near', far: 'far', open: 'near' }),
    );
    for (const odd of [{}, { name: '' }, { name: 5 }, 'two']) {
      cluster.put({ ...configMap('refs'), near: odd });
      expect(await look([to('near')])).to.deep.equal({
        isComplete: false,
        key: 'near',
        why: 'JSON path .near does not select a reference with a name',
      });
    }
  });

  it('reads cluster-scoped objects', async () => {
    const { look } = given();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'app' };
    expect(await look([spec('k', { from: namespace, jsonPath: '.metadata.name' })])).to.deep.equal(
      complete({ k: 'app' }),
    );
    expect(await look([spec('k', { from: namespace, jsonPath: '.gone' })])).to.deep.equal({
      isComplete: false,
      key: 'k',
      why: 'Namespace app has no field with JSON path .gone',
    });
  });

  for (const [title, more, why] of [
    [
      'a field is missing',
      { jsonPath: '.data.gone' },
      'ConfigMap app/one has no field with JSON path .data.gone',
    ],
    [
      'a path matches nothing',
      { jsonPath: '.data[?(@.x)]' },
      'ConfigMap app/one has no field with JSON path .data[?(@.x)]',
    ],
    ['an object is missing', { from: { ...from, name: 'gone' } }, 'not found'],
    ['a kind is missing', { from: { ...from, kind: 'Gone' } }, 'Gone'],
  ] as const) {
    it(`is not complete while ${title}`, async () => {
      const look = await given().look([spec('first'), spec('second', more), spec('third')]);
      expect(look).to.deep.include({ isComplete: false, key: 'second' });
      expect(look).to.have.property('why').that.contains(why);
    });
  }

  it('throws permanent errors, and the end of the reconcile', async () => {
    for (const error of [
      new ConfigurationError({ operation: 'o', reason: 'r', message: 'm' }),
      new InvalidObjectName({ message: 'no' }),
    ]) {
      const { look, cluster } = given();
      cluster.fail = () => {
        throw error;
      };
      expect(await look([spec('k')]).catch((thrown: unknown) => thrown)).to.equal(error);
    }
    const { look, cluster, life } = given();
    cluster.fail = () => {
      throw new Error('ended');
    };
    expect(await look([spec('k')])).to.deep.include({ isComplete: false, why: 'ended' });
    life.abort();
    expect(await look([spec('k')]).catch((thrown: unknown) => thrown)).to.have.property('message', 'ended');
  });

  it('is reported while it waits, and when it times out', () => {
    expect(exportWait('Op', 'k', 'why')).to.deep.equal({
      operation: 'Op',
      reason: 'ReadExportValues',
      message: 'export k is not available yet: why',
    });
    expect(exportTimeout('Op', 'k')).to.deep.include({
      operation: 'Op',
      reason: 'ReadExportValues',
      codes: ['ERR_TIMEOUT'],
    });
    expect(exportTimeout('Op', 'k').message).to.contain('timeout at: "deployer: during export - key: k"');
  });
});
