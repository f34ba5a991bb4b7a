/** What each field of a kubeconfig does; how files are found and merged is in kubeconfig.test.ts. */
import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeconfigError } from '../../../../src/runtime/errors.ts';
import { findKubeconfig, loadAccess, type Access } from '../../../../src/runtime/transport/kubeconfig.ts';

const none = (): Promise<never> => Promise.reject(new Error('not to be called'));
interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly more?: object;
}
const config = ({ cluster = {}, user = {}, context = {}, more = {} }: Parts): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://h', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
    ...more,
  });
const accessOf = (parts: Parts): Promise<Access> => loadAccess({ text: config(parts) }, none);
const complaintOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(KubeconfigError);
  return (error as Error).message;
};

describe('the fields of a kubeconfig', () => {
  it('refuse a token that no header can contain, without showing it', async () => {
    for (const token of ['pa\n55', 'pa 55', 'pä55']) {
      const access = await accessOf({ user: { token } });
      const message = await complaintOf(access.credentials(false));
      expect(message).to.contain('line breaks, blanks or other characters').and.not.contain('55');
    }
  });

  it('are read from a file in UTF-16', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'espalier-'));
    const file = join(folder, 'config');
    await writeFile(file, Buffer.from(`\ufeff${config({})}`, 'utf16le'));
    expect((await loadAccess({ file }, none)).server).to.equal('https://h');
    await rm(folder, { recursive: true });
  });

  const rows: readonly (readonly [string, Parts, Partial<Access>])[] = [
    [
      'the address, without slashes at the end',
      { cluster: { server: 'http://h/p//' } },
      { server: 'http://h/p' },
    ],
    [
      'an address whose scheme is in capitals',
      { cluster: { server: 'HTTPS://Host:6443/P/' } },
      { server: 'https://Host:6443/P' },
    ],
    [
      'a host with a port',
      { cluster: { server: 'host.example:6443' } },
      { server: 'http://host.example:6443' },
    ],
    [
      'an address in the form of IPv6',
      { cluster: { server: '[::1]:6443/' } },
      { server: 'http://[::1]:6443' },
    ],
    ...[
      { cluster: { 'insecure-skip-tls-verify': true } },
      { cluster: { 'certificate-authority-data': 'eA==' } },
      { user: { 'client-certificate-data': 'eA==' } },
    ].map(({ cluster = {}, user = {} }: Parts): readonly [string, Parts, Partial<Access>] => [
      `a host that is encrypted because of ${Object.keys({ ...cluster, ...user }).join()}`,
      { cluster: { ...cluster, server: 'h' }, user },
      { server: 'https://h' },
    ]),
    ['the namespace default if none is given', {}, { namespace: 'default' }],
    ['the namespace default if it is empty', { context: { namespace: '' } }, { namespace: 'default' }],
    ['a namespace that looks like a number', { context: { namespace: 7 } }, { namespace: '7' }],
    ['the proxy', { cluster: { 'proxy-url': 'http://p' } }, { proxyUrl: 'http://p' }],
  ];
  for (const [title, parts, expected] of rows)
    it(`give ${title}`, async () => {
      expect(await accessOf(parts)).to.deep.include(expected);
    });

  it('give no proxy unless one is set', async () => {
    expect(await accessOf({})).not.to.have.property('proxyUrl');
  });

  const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
  const headers: readonly (readonly [string, object, object])[] = [
    ['nothing', {}, {}],
    ['a token', { token: 't' }, { authorization: 'Bearer t' }],
    ['a token without its line break', { token: ' t\r\n' }, { authorization: 'Bearer t' }],
    ['nothing for a token of blanks', { token: '\n' }, {}],
    ['a token before a password', { token: 't', username: 'me' }, { authorization: 'Bearer t' }],
    ['a user without a password', { username: 'me' }, { authorization: basic('me:') }],
    ['a password alone, which is of no use', { password: 'p' }, {}],
    ['the user to impersonate', { as: 'you' }, { 'impersonate-user': 'you' }],
    ['the user to impersonate, by uid', { 'as-uid': 'u-1' }, { 'impersonate-uid': 'u-1' }],
    ['groups to act for', { 'as-groups': ['a', 1] }, { 'impersonate-group': ['a', '1'] }],
    ['groups that are no list', { 'as-groups': 'a' }, {}],
    [
      'extra fields',
      { 'as-user-extra': { 'Example.org/X': ['1', 2], y: 'z' } },
      { 'impersonate-extra-example.org%2Fx': ['1', '2'], 'impersonate-extra-y': ['z'] },
    ],
    ['extra fields that are a list', { 'as-user-extra': ['a'] }, {}],
  ];
  for (const [title, user, expected] of headers)
    it(`become headers: ${title}`, async () => {
      expect((await (await accessOf({ user })).credentials(false)).headers).to.deep.equal(expected);
    });

  const b64 = (text: string): string => Buffer.from(text).toString('base64');
  const tls: readonly (readonly [string, Parts, object])[] = [
    ['nothing', {}, {}],
    ['an authority', { cluster: { 'certificate-authority-data': b64('ca') } }, { ca: Buffer.from('ca') }],
    [
      'a certificate and its key',
      { user: { 'client-certificate-data': b64('cert'), 'client-key-data': b64('key') } },
      { cert: Buffer.from('cert'), key: Buffer.from('key') },
    ],
    ['a name of the server', { cluster: { 'tls-server-name': 's' } }, { servername: 's' }],
    [
      'no check of the server',
      { cluster: { 'insecure-skip-tls-verify': true } },
      { rejectUnauthorized: false },
    ],
    ['a check of the server', { cluster: { 'insecure-skip-tls-verify': false } }, {}],
    [
      'a check of the server unless it is switched off',
      { cluster: { 'insecure-skip-tls-verify': 'true' } },
      {},
    ],
  ];
  for (const [title, parts, expected] of tls)
    it(`become TLS settings: ${title}`, async () => {
      expect((await (await accessOf(parts)).credentials(false)).tls).to.deep.equal(expected);
    });

  const refused: readonly (readonly [string, string, string])[] = [
    [
      'an address of another kind',
      config({ cluster: { server: 'ftp://h' } }),
      'not an http or https address',
    ],
    ['a host with a path', config({ cluster: { server: 'h:1/p' } }), 'nor a host with a port'],
    ['a user in the address', config({ cluster: { server: 'u@h:1' } }), 'nor a host with a port'],
    [
      'no address',
      config({ cluster: { server: '' } }),
      "the kubeconfig: the cluster's server is not an http",
    ],
    ['an address that is a list', config({ cluster: { server: ['x'] } }), 'not an http or https address'],
    ['no contexts', config({ more: { contexts: [], 'current-context': '' } }), '(it has none)'],
    ['contexts that are no list', config({ more: { contexts: 'x' } }), 'has no context x; it has none'],
    ['no list of clusters', config({ more: { clusters: 'x' } }), 'contains no cluster'],
    ['an empty list of clusters', config({ more: { clusters: [] } }), 'contains no cluster'],
    ['nothing', '', 'contains no cluster'],
    ['a list', '[]', 'contains no cluster'],
    ['two commands', config({ user: { exec: {}, 'auth-provider': {} } }), 'uses exec, auth-provider, which'],
    ['a key in a file', config({ user: { 'client-key': '/x' } }), 'uses client-key, which'],
    [
      'a certificate in a file',
      config({ user: { 'client-certificate': '/x' } }),
      'uses client-certificate, which',
    ],
  ];
  for (const [title, text, message] of refused)
    it(`are refused when there is ${title}`, async () => {
      expect(await complaintOf(loadAccess({ text }, none))).to.contain(message);
    });

  it('may leave the user out', async () => {
    const access = await accessOf({ context: { user: undefined } });
    expect(await access.credentials(false)).to.deep.equal({ headers: {}, tls: {} });
  });

  it('skip entries that are not objects', async () => {
    const access = await accessOf({
      more: { users: [null, 'x', { name: 'u', user: { token: 't' } }, { name: 'v', user: 'x' }] },
    });
    expect((await access.credentials(false)).headers).to.deep.equal({ authorization: 'Bearer t' });
  });

  it('are those of the context that is named', async () => {
    const text = config({
      more: {
        contexts: [
          { name: 'x', context: { cluster: 'c', user: 'u', namespace: 'one' } },
          { name: 'y', context: { cluster: 'c', user: 'u', namespace: 'two' } },
        ],
      },
    });
    expect((await loadAccess({ text, context: 'y' }, none)).namespace).to.equal('two');
    expect(await complaintOf(loadAccess({ text, context: 'z' }, none))).to.equal(
      'the kubeconfig has no context z; it has x, y',
    );
  });
});

describe('a kubeconfig in files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it('takes certificates and tokens from files beside it, and from others by their whole path', async () => {
    await mkdir(join(folder, 'pki'));
    await write('pki/ca.pem', 'ca\n');
    const cert = await write('cert.pem', 'cert');
    await write('key.pem', 'key');
    await write('token', ' t \n');
    const file = await write(
      'config',
      config({
        cluster: { 'certificate-authority': 'pki/ca.pem' },
        user: { 'client-certificate': cert, 'client-key': 'key.pem', tokenFile: 'token', token: 'other' },
      }),
    );
    expect(await (await loadAccess({ file }, none)).credentials(false)).to.deep.equal({
      headers: { authorization: 'Bearer t' },
      tls: { ca: 'ca', cert: 'cert', key: 'key' },
    });
  });

  it('takes data before files', async () => {
    const data = { 'certificate-authority-data': Buffer.from('data').toString('base64') };
    const file = await write(
      'config',
      config({ cluster: { 'certificate-authority': 'missing.pem', ...data } }),
    );
    const { tls } = await (await loadAccess({ file }, none)).credentials(false);
    expect(tls).to.deep.equal({ ca: Buffer.from('data') });
  });

  it('gets from a plugin what it lacks, in the merged document', async () => {
    const first = await write(
      'first',
      config({ cluster: { 'tls-server-name': 's' }, user: { as: 'you', 'auth-provider': { name: 'p' } } }),
    );
    const second = await write(
      'second',
      config({ more: { users: [{ name: 'v', user: { token: 't' } }], 'current-context': 'y' } }),
    );
    const asked: unknown[] = [];
    const access = await loadAccess({ file: [first, second].join(delimiter) }, (request) => {
      asked.push({ ...request, kubeconfig: JSON.parse(request.kubeconfig) as unknown });
      return Promise.resolve({ headers: { authorization: 'Bearer p' }, tls: { cert: 'c' } });
    });
    expect(await access.credentials(true)).to.deep.equal({
      headers: { 'impersonate-user': 'you', authorization: 'Bearer p' },
      tls: { servername: 's', cert: 'c' },
    });
    const user = { as: 'you', 'auth-provider': { name: 'p' } };
    expect(asked).to.deep.equal([
      {
        context: 'x',
        user,
        refused: true,
        kubeconfig: {
          apiVersion: 'v1',
          kind: 'Config',
          'current-context': 'x',
          clusters: [{ name: 'c', cluster: { server: 'https://h', 'tls-server-name': 's' } }],
          users: [
            { name: 'v', user: { token: 't' } },
            { name: 'u', user },
          ],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        },
      },
    ]);
  });

  it('names each file that cannot be read, and the reason', async () => {
    const missing = join(folder, 'missing');
    expect(await complaintOf(loadAccess({ file: missing }, none))).to.equal(
      `cannot read kubeconfig ${missing}: no such file; set KUBECONFIG or pass --kubeconfig`,
    );
    const several = [missing, `${missing}2`].join(delimiter);
    expect(await complaintOf(loadAccess({ file: several }, none))).to.equal(
      `cannot read kubeconfig ${several}: no such file; set KUBECONFIG or pass --kubeconfig`,
    );
    expect(await complaintOf(loadAccess({ file: folder }, none))).to.equal(
      `cannot read kubeconfig ${folder}: EISDIR; set KUBECONFIG or pass --kubeconfig`,
    );
    const broken = await write('broken', 'a: [b');
    expect(await complaintOf(loadAccess({ file: broken }, none))).to.contain(
      `kubeconfig ${broken} is not valid YAML; write it again`,
    );
    const empty = await write('empty', config({ more: { contexts: [] } }));
    expect(await complaintOf(loadAccess({ file: empty }, none))).to.contain(
      `kubeconfig ${empty} has no context x; it has none`,
    );
  });

  it('is found by KUBECONFIG, then by the pod, then in the home folder', async () => {
    expect(findKubeconfig({}, folder)).to.equal(undefined);
    await mkdir(join(folder, '.kube'));
    const file = await write('.kube/config', config({}));
    expect(findKubeconfig({}, folder)).to.deep.equal({ file });
    expect(findKubeconfig({ KUBERNETES_SERVICE_HOST: 'h' }, folder)).to.equal('in-cluster');
    expect(findKubeconfig({ KUBERNETES_SERVICE_HOST: 'h', KUBECONFIG: 'f' }, folder)).to.deep.equal({
      file: 'f',
    });
    expect(findKubeconfig({ KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }, folder)).to.deep.equal({ file });
  });
});

describe('the account of a pod', () => {
  for (const [title, env, server] of [
    ['by name', { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '6443' }, 'https://h:6443'],
    ['by name, with the usual port', { KUBERNETES_SERVICE_HOST: 'h' }, 'https://h:443'],
    ['by an IPv6 address', { KUBERNETES_SERVICE_HOST: 'fd00::1' }, 'https://[fd00::1]:443'],
  ] as const)
    // Its files are there only in a pod.
    it(`finds the server ${title}`, async () => {
      expect((await loadAccess('in-cluster', none, env)).server).to.equal(server);
    });
});
