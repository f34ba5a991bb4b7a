/** What templates can read about a target, whose server a tenant may run. */
import { expect } from 'chai';
import {
  capabilitiesOf,
  isKubernetesObject,
  lookupFrom,
  staticCapabilities,
} from '../../../../deployers/helm/target-facts.ts';
import { ConfigurationError, RetryError } from '../../../../deployers/sdk/errors.ts';
import { NoSuchKind } from '../../../../src/runtime/errors.ts';

const chart = { keywords: ['Capabilities', 'APIVersions'] } as never;
const ctx = { config: { values: {}, exports: [] }, signal: new AbortController().signal } as never;

describe('the capabilities of a target', () => {
  /** @param groups number of API groups @param length of the names of kinds */
  const read = (groups: number, length: number, gitVersion = 'v1.30.0') => {
    const asked: string[] = [];
    const raw = (_method: string, path: string): Promise<unknown> => {
      asked.push(path);
      if (path === '/version') return Promise.resolve({ gitVersion, major: '1', minor: '30+' });
      if (path === '/apis') {
        const names = Array.from({ length: groups }, (_, i) => `g${String(i)}/v1`);
        return Promise.resolve({ groups: names.map((groupVersion) => ({ versions: [{ groupVersion }] })) });
      }
      return Promise.resolve({
        resources: Array.from({ length: 100 }, (_, i) => ({ kind: String(i).padEnd(length, 'x') })),
      });
    };
    return { asked, capabilities: capabilitiesOf({ client: { raw } } as never, chart, ctx) };
  };

  it('include all kinds of a large cluster', async () => {
    const { apiVersions } = await read(100, 30).capabilities;
    expect(apiVersions)
      .to.include('g99/v1/99xxxxxxxxxxxxxxxxxxxxxxxxxxxx')
      .and.have.length(101 * 101);
  });

  it('are not collected from a server that lists kinds without end', async () => {
    const { asked, capabilities } = read(10_000, 1_000);
    const error: unknown = await capabilities.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigurationError);
    expect((error as Error).message).to.contain('more than 2 MiB; this limit is fixed');
    expect(asked.length).to.be.below(100);
  });

  it('contain major and minor version as the server writes them', async () => {
    expect(await read(1, 10).capabilities).to.include({ kubeVersion: 'v1.30.0', major: '1', minor: '30+' });
  });

  it('do not contain a version that is far too long', async () => {
    const { kubeVersion, minor } = await read(1, 10, 'v'.repeat(2 ** 20)).capabilities;
    expect([kubeVersion, minor]).to.deep.equal([staticCapabilities.kubeVersion, undefined]);
    for (const [length, isKept] of [
      [256, true],
      [257, false],
    ] as const) {
      const version = 'v1'.padEnd(length, '0');
      const found = await read(1, 10, version).capabilities;
      expect(found.kubeVersion === version, String(length)).to.equal(isKept);
    }
  });
});

describe('a lookup of a kind that the target does not have', () => {
  const { signal } = new AbortController();
  const missing = new NoSuchKind({ apiVersion: 'example.org/v1', kind: 'Gadget' });
  const access = { kindOf: () => Promise.reject(missing) } as never;
  const key = { apiVersion: 'example.org/v1', kind: 'Gadget', namespace: '', name: 'g' };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { kind: 'Gadget', plural: 'gadgets' },
      versions: [{ name: 'v1' }],
    },
  };

  it('finds nothing if the chart defines the kind', async () => {
    expect(await lookupFrom(access, signal, () => Promise.resolve([crd]))(key)).to.equal(undefined);
  });

  it('is retried otherwise, since someone may install it', async () => {
    const error: unknown = await lookupFrom(access, signal, () => Promise.resolve([]))(key).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(RetryError);
    expect((error as Error).message).to.contain('the target has no such kind');
  });
});

describe('a document of a chart', () => {
  for (const [document, isObject] of [
    [{ apiVersion: 'v1', kind: 'ConfigMap' }, true],
    [{ apiVersion: 'v1' }, false],
    [{ apiVersion: 'v1', kind: '' }, false],
    [{ apiVersion: 'v1', kind: 7 }, false],
    [{ apiVersion: '', kind: 'ConfigMap' }, false],
    [{ kind: 'ConfigMap' }, false],
    ['text', false],
    [null, false],
  ] as const)
    it(`is ${isObject ? 'an' : 'not an'} object of a cluster: ${JSON.stringify(document)}`, () => {
      expect(isKubernetesObject(document)).to.equal(isObject);
    });
});
